/** The rules of spec v1 by id. Titles are those of the spec; each rule has a hint about how to follow it. */
import { readFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import { dirname, join } from 'node:path';

/** In the order of the spec. An id is never given to another rule. */
const hints = {
  'TOOL-1':
    'Give the tool a name of 1 to 64 letters, digits, "_" or "-", which model servers accept, and a description.',
  'TOOL-2': 'Give inputSchema a valid JSON Schema (2020-12) of type "object".',
  'TOOL-3': 'Return structuredContent that follows outputSchema, or correct outputSchema.',
  'TOOL-4': 'Return { content: [{ type: "text", text }] }, or another block of tool-result.schema.json.',
  'TOOL-5':
    'Return only values that JSON can represent: no function, NaN, bigint, Date, Map, or undefined in an array.',
  'TOOL-6':
    'Return a result with isError for a call that cannot be served. Throw only if the machinery failed.',
  'TOOL-7': 'Copy the arguments before you change them.',
  'TOOL-8':
    'Pass context.signal to everything that waits, and call context.signal.throwIfAborted() in long loops.',
  'TOOL-9': 'Draw from context.rng instead of Math.random, and do not use the clock. Or remove readOnlyHint.',
  'TOOL-10': 'Keep the state of a call in local variables, not in fields of the tool or module.',
  'TOOL-11': 'Return refuse({ path, expected, received }), which sets isError and the content.',
  'TOOL-12':
    'Set a limit for everything that the tool waits for. A call must settle. Give timeout in milliseconds.',
  'TOOL-13': 'Clear timers and close handles when the call settles, and everything else in close().',
  'TOOL-14':
    'In example: { material, calls }, give material that create accepts and calls that follow inputSchema.',
  'ENV-1':
    'Give each Env a spec { specVersion: "v1", name, rewards, limits } with the rewards of its definition.',
  'ENV-2': 'Give options a valid JSON Schema of type "object", with defaults that follow it.',
  'ENV-3':
    'Give each split a length, and let get(index) return the same JSON value whenever the seed is the same.',
  'ENV-4':
    'Declare every component as { kind: "outcome" or "process", range: [low, high], weight }, finite and low ≤ high.',
  'ENV-5': 'Set maxTurns, maxCallsPerTurn, toolTimeout and maxToolCharacters to numbers above 0.',
  'ENV-6': 'Throw ToolEnvError "bug.step_before_reset" from step() before reset() and after close().',
  'ENV-7':
    'Throw ToolEnvError "bug.step_after_end" from step() once an outcome other than running was returned.',
  'ENV-8': 'Throw ToolEnvError "bug.concurrent_step" from step() while another step is under way.',
  'ENV-9': 'Create all state of an episode in reset() (with defineToolEnv: in episode()).',
  'ENV-10': 'Let close() do nothing before the first reset and when it is called again.',
  'ENV-11': 'Draw from context.rng or createRng(seed, …) instead of Math.random, and do not use the clock.',
  'ENV-12': 'Keep the state of an episode in its Env, not in a module or in an object that episodes share.',
  'ENV-13': 'Return fresh objects, and copy the task and the action before you change them.',
  'ENV-14':
    'Return { messages, tools } that follow observation.schema.json: at least one message, and tools with distinct names.',
  'ENV-15': 'Remove the answer from the first messages, the tool descriptions and the replies to mistakes.',
  'ENV-16': 'Put only JSON values into tasks, observations, rewards, calls and info.',
  'ENV-37':
    "Reply to the answer or end the episode: onAnswer: () => 'That is wrong. Try again.', or onAnswer: () => ({ end: 'answered' }).",
  'ENV-38': 'Return learn: false, or leave learn out.',
  'ENV-39':
    'Name in spec.players each player that the policy plays too, and give playerRewards by these names only.',
  'ENV-17': 'Return running, terminated(reason), truncated(reason) or aborted(cause) from @toolenv/core.',
  'ENV-18':
    'Leave rewards out of an aborted transition, and put a rewards object into every other transition.',
  'ENV-19': 'Score outcome components only in the step that ends the episode, or declare them as process.',
  'ENV-20': 'Declare the component in spec.rewards, or put the value into info.',
  'ENV-21': 'Return a finite number within the declared range, or null for "not scored".',
  'ENV-22': 'Score 0 in every outcome component that is still unscored: scoreTruncation(spec, rewards).',
  'ENV-23': 'Return truncated("max_turns") from step number maxTurns, unless the episode ends otherwise.',
  'ENV-24':
    'Return truncated("max_tokens") for an action whose stopReason is "length", and run none of its calls. Only in a named conversation may the episode go on.',
  'ENV-25':
    'Answer a wrong call with a record whose mistake has code, path, expected, received and hint (dispatch does).',
  'ENV-26': 'Return one record per call of the action, in its order, unless the step was aborted or cut off.',
  'ENV-27':
    'Do not let any action make reset() or step() throw: a model can write anything. If a server failed, throw new ToolEnvError("infrastructure.judge", why).',
  'ENV-28': 'Set a limit for everything that reset() and step() wait for.',
  'ENV-29':
    'Call signal.throwIfAborted() first, pass the signal to everything that waits, and reject with its reason.',
  'ENV-30':
    'End a call after limits.toolTimeout and return aborted(cause) with an infrastructure.* cause (dispatch does).',
  'ENV-31': 'Return aborted(cause) with an infrastructure.* cause when a tool throws (dispatch does).',
  'ENV-35':
    'Cut the text of a record to limits.maxToolCharacters, and add a note about the rest (dispatch does).',
  'ENV-36':
    'Declare capabilities as booleans: seedable: false, concurrent: false or the most episodes at once, networked: true or remote: true where that is the case.',
  'ENV-32':
    'Make the task solvable, or correct the oracle: it must terminate with the best value of each outcome component whose weight is not 0. If they conflict, declare the largest weighted reward: best: (task) => task.best. A player whom self plays is played by its first script, or by an oracle that is a function, which reads observation.conversation: give the player a script, or name who plays it (play: "plain", or --<player> plain).',
  'ENV-33': 'Let an empty answer in the first turn earn less than the oracle.',
  'ENV-34': 'Clear timers and close handles in the close() of the Env and of the opened environment.',
  'WARN-1':
    "Return the new text, which is appended: return 'Try again.'; rewrite replaces the whole context: rewrite: [...conversation, message]. If it should, skip WARN-1.",
  'WARN-2': "Reply with what the policy needs next: return 'That is wrong. Try again.';",
  'WARN-3':
    'Reply with what the action brought about: onAnswer: (guess) => (guess < task.number ? "Higher." : "Lower."),',
  'WARN-4':
    "Score it by what happened: return { rewards: { solved: Number(answer === task.answer) }, end: 'answered' }; or declare weight: 0.",
  'WARN-5':
    'Show that each task can be won; where no script can win, skip WARN-5 (--skip WARN-5). Add to the definition: oracle: (task) => [task.answer],',
  'WARN-6':
    "Return failure('There is no account 7.') for a call that cannot be served; throw only if the machinery failed. If a server was down, check again.",
  'WARN-7':
    'Pass context.signal to everything that the tool waits for: fetch(url, { signal }), setTimeout(ms, undefined, { signal }). A tool that must end what it began may skip WARN-7 (--skip WARN-7).',
  'WARN-8':
    'Draw from context.rng, and count turns instead of time. If the value decides nothing, as in a log, skip WARN-8 (--skip WARN-8).',
  'WARN-9':
    'Give each split tasks of its own: tasks: { train: all.slice(0, -200), test: all.slice(-200) }. Where the seed, not the task, says what is asked, skip WARN-9 (--skip WARN-9).',
  'WARN-10':
    'Weigh the rewards so that their sum says what you want: points: { kind: "outcome", range: [0, 100], weight: 0.01 }; or weight: 0 to report one only.',
  'WARN-11': 'Name the field of the task as the task has it, and write an object by JSON.stringify.',
  'WARN-12':
    'Give the split tasks, or leave it out. Where it is a slice, count the tasks: all.slice(0, 80) of 80 tasks leaves none for all.slice(80).',
  'CERT-1':
    'Give an oracle that has a script for the tasks: oracle: (task) => [task.answer]. Do not let the seed of an episode decide what it earns.',
  'CERT-2':
    'Score what the task asks for, and nothing else: compare the whole answer instead of searching it (answer === task.answer), and reward no format, length or call by itself.',
  'CERT-3':
    'Limit what repeated or useless calls can earn, or correct the oracle: with defineToolEnv, declare best(task) and score the state at the end.',
  'CERT-4':
    'Remove the answer from descriptions, prompts and error messages: say what was wrong, and not what would be right.',
  'CERT-5':
    'Score differently whether the task was done. A reward that is the same for everybody teaches nothing.',
  'CERT-6':
    'Show the policy, in the first messages or by tools, what decides the right action: a question of its own, a hint after a wrong answer, or a tool that finds out.',
  'CERT-7':
    'Split by what makes tasks different, not by their place in a list, and remove copies: a test of learned tasks shows what was learned by heart.',
  'CERT-8':
    'Look at what the policy says: toolenv eval --out, then toolenv show. Give it more minutes, a larger policy (--policy), or tasks whose prompts say what they ask.',
  'POL-1': 'Give the policy a spec { name, contextLength } with a name and a whole number above 0.',
  'POL-2': 'Return { text, toolCalls, stopReason } that follows action.schema.json, with distinct call ids.',
  'POL-3':
    'Return prompt, action and logprobs as sampled: none is empty, action and logprobs have one length, logprobs are ≤ 0.',
  'POL-4': 'Stop at maxTokens and at the end of the context, with stopReason "length".',
  'POL-5': 'Seed the sampling with options.seed only.',
  'POL-6': 'Keep conversations separate: other concurrent samples must not change an action.',
  'POL-7': 'Throw ToolEnvError "context.overflow" if the observation leaves no room for a token.',
  'POL-8': 'Reject with the reason of options.signal once it aborts.',
  'POL-9': 'Let endEpisode() forget a known episode, and do nothing for an unknown id.',
  'POL-10': 'Take the most likely token at temperature 0, whatever the seed.',
  'POL-11': 'Copy the observation before you change it.',
  'POL-12':
    'Return rows with tokens, mask and turns of one length, and each turn of the assistant once, as one run of tokens.',
  'POL-13': 'Make the tokens before a turn in encode() the same way that act() makes its prompt.',
  'POL-14':
    'Name every tool in the prompt: a chat template may ignore tools, and then the tool prompt describes them. A policy that knows its tools declares capabilities.knownTools.',
  'LRN-1':
    'Return finite logprobs ≤ 0 and entropy ≥ 0, or no entropy, with the lengths of the batch’s rows, and 0 where the mask is 0.',
  'LRN-2': 'Mask the padding: a row must give the same numbers whatever the other rows are.',
  'LRN-3': 'Add to the gradients in backward(), and clear them only in step().',
  'LRN-4': 'Compute the gradient of Σ dLogprobs·logprobs + Σ dEntropy·entropy, without normalising it.',
  'LRN-5': 'Ignore entries of dLogprobs and dEntropy where the mask is 0, whatever their value.',
  'LRN-6':
    'Move against the gradient, by nothing at learning rate 0, clear the gradients, and return their norm.',
  'LRN-7': 'Throw from step(), and change no weight, if the gradient norm is not finite.',
  'LRN-8': 'Write weights and optimizer state in save() and restore both in load().',
  'LRN-9': 'Copy the weights in reference(): later steps must not change the copy.',
  'LRN-10':
    'Divide the logits by batch.temperature, or by 1 if it is absent; refuse what you cannot divide by with a usage error.',
  'LRN-11':
    'Begin with values of 0 in addCritic(), learn them from dValues, do not change the policy for criticOnly, and save both.',
  'LRN-12':
    'Return the outputs of the weights before the step from backward(), at the positions of forward(), or return nothing.',
  'LRN-13':
    'Compute the weights with noise from those without, which must stay as they are until shift(), and write those in save().',
  'TRN-1':
    'Give options a schema with "steps" and valid defaults, and check the options before the first event: defineTrainer does.',
  'TRN-2':
    'Yield rollout n, update n, then evaluation n and checkpoint n if they are due; n counts from 1. End with a checkpoint.',
  'TRN-3':
    'Leave a metric out where it has no value, for example the mean of nothing. Do not report NaN, and report no NaN for tokens.',
  'TRN-4':
    'Yield the trajectories of rollout() of @toolenv/core as they are. Copy a trajectory before you change it.',
  'TRN-5':
    'Evaluate on the validation split after each step that evaluateEvery divides: if (step % evaluateEvery === 0).',
  'TRN-6':
    'Save all that changes from step to step beside the weights (defineTrainer: memory), and seed each step by its number.',
  'TRN-7':
    "Pass run.signal to the rollout. When it aborts, save the finished steps, then throw the signal's reason.",
  'TRN-8':
    'Learn only from trajectories with a reward: trajectories.filter(({ reward }) => reward !== null). They may be none.',
  'TRN-9': 'Draw everything from run.seed: createRng(run.seed, "my purpose", step).',
  'TRN-10':
    'Look at the sign of dLogprobs: the loss falls, so better actions need a negative gradient. Or give the check a learning rate.',
  'SCR-1':
    'Open with the options of your example, without a server. Throw a usage error that names what is missing.',
  'SCR-2':
    'Return { value } for each episode, in the order of the episodes: a number in your range, or null.',
  'SCR-3': 'Draw from run.seed only, and keep what a server has said in run.folder.',
  'SCR-4': 'Copy a trajectory before you change it.',
  'SCR-5': 'Reject with the reason of the signal once it aborts.',
  'SCR-6': 'Close in close() what begin() has opened.',
  'TRAJ-1': 'Write it with encodeTrajectory. trajectory.schema.json has the form.',
  'TRAJ-2': 'Put only JSON values into task, info and calls, and do not round float32 values.',
  'TRAJ-3': 'Compute rewards from the steps with sumRewards, and reward with weigh.',
  'TRAJ-4': 'Set reward and every component to null for an aborted episode.',
  'TRAJ-5': 'Write a trajectory after its episode has ended.',
  'TRAJ-6':
    'Keep prompt, action and logprobs as sampled: none is empty, action and logprobs have one length.',
  'TRAJ-7': 'Score outcome components only in the last step.',
  'TRAJ-8': 'Keep one record for each call of a step’s action, in its order.',
  'TRAJ-9': 'Score 0 in every outcome component that a truncated episode left unscored.',
  'SBX-1': 'Give options a valid JSON Schema of type "object", with defaults that follow it.',
  'SBX-2':
    'Return what the command wrote and its exit code, also if it failed. Throw only if the sandbox itself failed.',
  'SBX-3':
    'Keep files, the working folder and exported variables for the next command, and set those of options.env.',
  'SBX-4':
    'Kill a command at its timeout: return { timedOut: true, exitCode: 124 }, and serve the next command.',
  'SBX-5': 'Keep the first limits.output bytes of a stream, and set truncated.',
  'SBX-6':
    'Read the bytes that were written, and throw ToolEnvError "usage.sandbox_file" for a path that does not name a file.',
  'SBX-7': 'Give each sandbox files of its own, and an environment without the variables of this process.',
  'SBX-8':
    'Release everything in close(), which may be called again. Throw ToolEnvError "infrastructure.*" from calls after it.',
  'PLUG-1': 'Write "toolenv": { "spec": "v1", "envs": { "<name>-v<N>": "./<subpath>" } } into package.json.',
  'PLUG-2':
    'Let each entry name a subpath of the package itself, without ".." and without a link that leads out of it.',
  'PLUG-3': 'Add the subpath to "exports" of package.json, and build the package.',
  'PLUG-4':
    'Export the definition as default: defineToolEnv, defineToolPlugin, defineTrainer, defineScorer or definePolicy.',
  'PLUG-5': 'Add "toolenv-plugin" to "keywords" of package.json.',
  'PLUG-6': 'Open files, servers and timers in open(), not while the module is loaded.',
  'PLUG-7': 'Add the package to "dependencies" of package.json: npm install <package>.',
  'WARN-13':
    'Add "type": "module" to package.json, and build again: without it, Node reads each file twice, and compilers write CommonJS.',
  'WARN-14': 'Build the package: npm run build.',
} as const;

export type RuleId = keyof typeof hints;

export interface Rule {
  title: string;
  /** How to follow the rule. */
  hint: string;
}

/** Titles by id, from `- **TOOL-1 Name and description.** …`. */
function readTitles(): Map<string, string> {
  const core = dirname(createRequire(import.meta.url).resolve('@toolenv/core/package.json'));
  const spec = readFileSync(join(core, 'spec/v1.md'), 'utf8');
  const written = spec.matchAll(/^- \*\*([A-Z]+-\d+) ([^*]+?)\.\*\*/gm);
  return new Map([...written].map(([, id, title]) => [id!, title!]));
}

const titles = readTitles();

export const rules: Readonly<Record<RuleId, Rule>> = Object.fromEntries(
  Object.entries(hints).map(([id, hint]): [string, Rule] => [id, { title: titles.get(id) ?? id, hint }]),
) as Readonly<Record<RuleId, Rule>>;
