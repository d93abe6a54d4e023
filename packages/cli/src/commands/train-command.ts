/** `toolenv train`: improves a policy in an environment with a trainer, and writes metrics, episodes and checkpoints. */
import { join } from 'node:path';
import { ToolEnvError } from '@toolenv/core';
import { isFolderLost, refuseLockedFolder } from '@toolenv/core/files';
import type { TrainablePolicy } from '@toolenv/core/learner';
import type { TrainEvent } from '@toolenv/core/plugins';
import { bestCheckpoint, readDiagnoses, readMetrics, train, trainingCurves } from '@toolenv/training';
import {
  newestCheckpoint,
  readConfig,
  refuseConstrainedRollouts,
  refuseRun,
  trainSettings,
} from '@toolenv/training/runs';
import { validationScores } from '@toolenv/view/recorded';
import { Option } from 'commander';
import { diagnosisView } from '../display/diagnosis-view.ts';
import { plural } from '../display/number-text.ts';
import { safeLine, shellWord, terminalWidth } from '../display/terminal-text.ts';
import { TrainingProgress } from '../display/training-progress.ts';
import { trainingChart, validationTable } from '../display/training-summary.ts';
import { refuseWithout } from '../flags/missing-options.ts';
import { addPluginFlags, type NamedPlugins, type ResolvedPlugin } from '../flags/plugin-flags.ts';
import { completeFlags, propertiesOf, schemaFlags } from '../flags/schema-flags.ts';
import { checkMemory } from '../run/memory-check.ts';
import { agentFlags, envFlags, identityOptions, openRun, recordingFlags } from '../run/open-run.ts';
import { beginPolicy, recordedOptions } from '../run/recorded-options.ts';
import { chooseTrainingEnvs, type TrainingFlags } from '../run/training-envs.ts';
import { defaultTrainer } from '../subject/load-named.ts';
import type { MakeCommand } from './commands.ts';

interface OwnFlags extends TrainingFlags {
  policy: string;
  trainer: string;
  out: string;
  json?: boolean;
  logSteps?: boolean;
}

export const make: MakeCommand = async (command, { words, signal }) => {
  command
    .description(
      'Improves a policy in an environment. Writes metrics, episodes, checkpoints and the policy. A prompt trainer optimizes the prompts of the environment instead, with any policy.',
    )
    .argument(
      '[environment...]',
      'reference, such as @toolenv/envs-qa/bridge-v1, or a module; its options are flags. More environments are mixed in; give their options as "reference?name=value". A trainer that learns from data needs no environment',
    )
    .option(
      '--weights <x,x>',
      'how often the tasks of each environment are drawn (default: in proportion to its number of tasks)',
    )
    .option('--evaluate-on <environment...>', 'more environments to evaluate on')
    .requiredOption(
      '--policy <folder>',
      'Hugging Face folder or model of the Hugging Face Hub to start from, reference of a policy, or a module; its options are flags',
    )
    .requiredOption('--out <folder>', 'new folder for metrics, episodes, checkpoints and the policy')
    .option('--trainer <reference>', 'trainer, or a module; its options are flags', defaultTrainer)
    .option('--log-steps', 'keep a line for each step and each evaluation')
    .option('--json', 'print each event as a line of JSON, and at the end the diagnoses, if there are any')
    // Refused with the reason.
    .addOption(new Option('--constrain-calls').hideHelp());
  for (const flag of [...envFlags(), ...agentFlags(), ...recordingFlags(), ...schemaFlags(trainSettings)])
    command.addOption(flag);
  const plugins = await addPluginFlags(command, words, { policies: ['policy'], trainer: true });
  command.action((envs: string[], given: OwnFlags & Record<string, unknown>) =>
    trainPolicy(envs, given, { ...plugins, words }, signal),
  );
};

async function trainPolicy(
  texts: readonly string[],
  given: OwnFlags & Record<string, unknown>,
  { env: namedEnv, policies, trainer: namedTrainer, words }: NamedPlugins & { words: readonly string[] },
  signal: AbortSignal,
): Promise<void> {
  const { out } = given;
  refuseConstrainedRollouts(given);
  const settings = completeFlags(trainSettings, given);
  const { seed, resume, change } = settings;
  const before = resume ? await readConfig(out) : undefined;
  const trainer = namedTrainer!.chosen(given, recordedOptions(before, 'trainer', given.trainer));
  const named = policies[0]!.chosen(given, recordedOptions(before, 'policy', given.policy));
  if (texts.length === 0 && trainer.plugin.learnsFrom !== 'data') {
    const message = `train: ${given.trainer} plays episodes: name an environment, such as @toolenv/envs-qa/bridge-v1.`;
    throw new ToolEnvError('usage.arguments', message);
  }
  const { evaluateEvery, evaluateFirst } = trainer.options;
  if (propertiesOf(trainer.plugin.options).evaluateEvery && !evaluateEvery && !evaluateFirst)
    refuseWithout({ evaluateOn: given.evaluateOn }, { evaluateOn: 'evaluateEvery' });
  const envs = await chooseTrainingEnvs(namedEnv, texts, given, before);
  const policy = await beginPolicy(named, before);
  const identity = {
    policy: given.policy,
    policyOptions: identityOptions(policy),
    ...(policy.choices && { policyChoices: policy.choices }),
  };
  // train refuses these too, but only after the environment and the policy were opened.
  await refuseLockedFolder(out);
  const trained = { trainer: given.trainer, trainerOptions: trainer.options };
  const config = { ...envs.identity, ...trained, seed, ...identity };
  await refuseRun(out, config, { trainer: trainer.plugin, resume, change });
  const run = await openRun((tap) => envs.open({ ...given, seed, tap }), policy, {
    ...{ ...given, seed, signal },
    // The option of trainers that play episodes.
    deadline: trainer.options.deadline as number | undefined,
    ...(before?.policy === given.policy && { revision: before.revision as string | undefined }),
  });
  const { env, evaluateOn } = run.opened;
  let progress: TrainingProgress | undefined;
  let last = 0;
  let isAtWork = false;
  let isPlayed = false;
  let isScored = false;
  try {
    if (env?.capabilities?.seedable === false) {
      process.stderr.write(
        `${envs.identity.env} does not repeat from a seed: another run with --seed ${seed} will differ.\n`,
      );
    }
    const { memory } = run.policy;
    if (memory) process.stderr.write(`${checkMemory(memory)}\n`);
    const begun = resume ? await newestCheckpoint(out) : undefined;
    last = begun?.step ?? 0;
    progress = new TrainingProgress(Number(trainer.options.steps ?? 0), last, {
      ...(given.logSteps && { onLine: keepLine(given.json ? process.stderr : process.stdout) }),
    });
    const events = train<Record<string, unknown>>({
      ...trainer.options,
      ...settings,
      env,
      evaluateOn,
      // train refuses a policy that has no learner.
      policy: run.policy as TrainablePolicy,
      trainer: trainer.plugin,
      out,
      signal,
      onData: (data) => progress?.showData(data),
      identity: { ...identity, trainer: given.trainer },
    });
    for await (const event of events) {
      // Only now the first step of a resumed run is known: its newest checkpoint may have been damaged.
      if (!isAtWork) last = event.type === 'rollout' || event.type === 'update' ? event.step - 1 : event.step;
      isAtWork = true;
      if (event.type === 'rollout') {
        warnOfAborted(event);
        isScored ||= event.trajectories.some(({ reward }) => reward !== null);
        isPlayed = true;
      }
      progress.show(event);
      if (given.json) process.stdout.write(`${eventLine(event)}\n`);
      if (event.type === 'checkpoint') last = event.step;
    }
    await run.finish();
  } catch (error) {
    progress?.stop();
    if ((signal.aborted || isAtWork) && !isFolderLost(error)) {
      const again = ['toolenv', 'train', ...words, ...(resume ? [] : ['--resume'])].map(shellWord).join(' ');
      const kept = `${plural(last, 'step')} ${last === 1 ? 'is' : 'are'} kept: continue with\n  ${again}\n`;
      process.stderr.write(last > 0 ? `Stopped; ${kept}` : 'Stopped; no step was finished.\n');
    }
    throw error;
  } finally {
    progress?.stop();
    await run.close();
  }
  if (given.json) await printDiagnoses(out);
  else await report(out, isAtWork, trainer);
  if (!isPlayed || isScored) return;
  process.stderr.write(`No episode was scored, so nothing was learned: remove what aborts them.\n`);
  process.exitCode = 1;
}

function keepLine(stream: NodeJS.WriteStream): (line: string) => void {
  return (line) => void stream.write(`${line}\n`);
}

/** Warns of a step whose episodes all aborted: the step has nothing to learn from. */
function warnOfAborted({ step, trajectories }: Extract<TrainEvent, { type: 'rollout' }>): void {
  const [first] = trajectories;
  if (first?.outcome.kind !== 'aborted' || trajectories.some(({ reward }) => reward !== null)) return;
  process.stderr.write(
    `Step ${step}: every episode was aborted (${safeLine(first.outcome.cause.message)}).\n`,
  );
}

/** An event without its episodes, which are in trajectories.jsonl. */
function eventLine(event: TrainEvent): string {
  return JSON.stringify(event, (key, value: unknown) => (key === 'trajectories' ? undefined : value));
}

/** The last line, if there are any. */
async function printDiagnoses(out: string): Promise<void> {
  const diagnoses = await readDiagnoses(out);
  if (diagnoses.length > 0) process.stdout.write(`${JSON.stringify({ type: 'diagnoses', diagnoses })}\n`);
}

async function report(
  out: string,
  isAtWork: boolean,
  { plugin, options }: ResolvedPlugin<'trainers'>,
): Promise<void> {
  const isOfPrompts = plugin.improves === 'prompts';
  // The budgets of a prompt trainer say when its run is over.
  const wanted = isOfPrompts ? 0 : Number(options.steps ?? 0);
  const more = isOfPrompts ? 'give more --episodes or --reflections' : 'give more --steps';
  const [metrics, width] = [await readMetrics(out), terminalWidth()];
  const chart = trainingChart(trainingCurves(metrics), width);
  const validation = validationTable(validationScores(metrics), width);
  const checkpoint = await newestCheckpoint(out);
  const best = await bestCheckpoint(out);
  const steps = checkpoint?.step ?? 0;
  const [end, remedy] =
    steps < wanted
      ? [`stopped early, after ${plural(steps, 'step')}`, 'raise --patience']
      : [`has its ${plural(steps, 'step')}`, more];
  const early = steps < wanted ? ', and the run stopped early' : '';
  const summary = isAtWork
    ? `${plural(steps, 'step')} done${early}.`
    : `Nothing to do: the run ${end}; ${remedy} to continue.`;
  const texts = join(out, 'prompts.json');
  const which = best ? `The policy of step ${best.step}, the best,` : 'The policy';
  const result = isOfPrompts
    ? `The best texts are in ${texts}: use them with --prompts ${texts}`
    : `${which} is in ${join(out, 'policy')}`;
  const policy = checkpoint ? `${result}\n` : '';
  const diagnoses = diagnosisView(await readDiagnoses(out), { run: out, width });
  const look = `Look at the run: toolenv view ${shellWord(out)}`;
  const parts = [chart, validation, `${summary}\n${policy}${diagnoses && `\n${diagnoses}\n\n`}${look}`];
  process.stdout.write(`${parts.filter(Boolean).join('\n\n')}\n`);
}
