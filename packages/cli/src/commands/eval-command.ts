/** `toolenv eval`: plays the first tasks of a split with one policy or several, and reports the scores. */
import { createHash } from 'node:crypto';
import { join } from 'node:path';
import { type Policy, ToolEnvError } from '@toolenv/core';
import type { FolderLock } from '@toolenv/core/files';
import type { PolicyUsage } from '@toolenv/core/plugins';
import type { ToolTap } from '@toolenv/core/recording';
import { type EvaluateOptions, type Evaluation, evaluate } from '@toolenv/training';
import { type EvaluationOptions, evaluationOptions, placeOf, scoreDifferences } from '@toolenv/training/runs';
import type { Command } from 'commander';
import { type Compared, comparisonTable } from '../display/comparison-table.ts';
import { evaluationTable } from '../display/evaluation-table.ts';
import { Progress } from '../display/progress.ts';
import { RunningScores } from '../display/status-line.ts';
import { readPlayerList } from '../flags/first-argument.ts';
import { warnOfIdleSampling } from '../flags/idle-sampling.ts';
import { refuseWithout } from '../flags/missing-options.ts';
import { addPluginFlags, type PluginFlags } from '../flags/plugin-flags.ts';
import { completeFlags, schemaFlags } from '../flags/schema-flags.ts';
import { Budget, budgetSchema } from '../run/budget.ts';
import {
  EvaluationFolder,
  lockEvaluationFolder,
  readEvaluation,
  refuseEvaluationFolder,
  writeJson,
} from '../run/evaluation-folder.ts';
import { addGateFlags, EvaluationGates, type GateFlags, refuseUnscored } from '../run/evaluation-gates.ts';
import {
  agentFlags,
  type EnvFlags,
  envFlags,
  environmentHelp,
  identityOptions,
  openRun,
  openRunEnv,
  type RecordingFlags,
  recordingFlags,
} from '../run/open-run.ts';
import { beginPolicy } from '../run/recorded-options.ts';
import { runTournament } from '../run/run-tournament.ts';
import { compareSkills, skillLine } from '../run/skill-verdicts.ts';
import { isKnownPlayer, openForPlayer } from '../subject/known-player.ts';
import type { MakeCommand } from './commands.ts';

/** What the flags of {@link addEvaluationFlags} and `--out` give. */
export type EvaluationFlags = EnvFlags &
  RecordingFlags & { out?: string; resume?: boolean; json?: boolean } & Record<string, unknown>;

/** Who plays: one of the two. */
interface PolicyFlags {
  policy?: string[];
  players?: string;
}

/** What is evaluated. */
export interface Entrant {
  /** What `--policy` names. */
  policy: string;
  /** Its name in reports, and in the folder. */
  label: string;
  plugin: PluginFlags<'policies'>;
  /** What `--skill` names for it. */
  skill?: string;
  /** Plays the policy in another way. */
  adapt?(policy: Policy): Policy;
}

/** What an entrant did. */
interface Evaluated {
  policy: string;
  /** What summary.json says of it. */
  summary: object;
  evaluation: Evaluation;
  /** Of this run; episodes of an earlier run that is resumed are not in it. */
  usage: PolicyUsage | undefined;
  folder: string | undefined;
}

export const make: MakeCommand = async (command, { words, signal }) => {
  command
    .description('Plays the first tasks of a split with one or more policies, and reports the scores.')
    .argument('<environment>', environmentHelp)
    .option(
      '--policy <folder>',
      'Hugging Face folder, model of the Hugging Face Hub, openai:<url>#<model>, reference of a policy, a module, or a player without a model: oracle, random or idle. Its options are flags. Repeat --policy to compare policies on the same tasks',
      (name: string, before: string[] = []) => [...before, name],
    )
    .option(
      '--players <name=policy,...>',
      'policies that play each other, in place of --policy: each plays every seat of an environment of several players, and win rates are reported',
    )
    .option(
      '--out <folder>',
      'folder for trajectories.jsonl and summary.json; with several policies, it has a folder for each and comparison.json; with --players, tournament.json',
    );
  addGateFlags(command);
  addEvaluationFlags(command);
  const plugins = await addPluginFlags(command, words, {
    policies: ['policy', 'players'],
    severalPolicies: true,
  });
  command.action(async (ref: string, given: EvaluationFlags & GateFlags & PolicyFlags) => {
    refuseWithout(given, { metric: 'against', margin: 'against', confidence: 'against' });
    if (given.players !== undefined) {
      const players = readPlayerList(given.players).map(([name, policy], index) => ({
        ...{ name, policy },
        plugin: plugins.policies[index]!,
      }));
      await runTournament(ref, players, given, plugins.env!, signal);
      return;
    }
    if (given.policy === undefined) {
      const message =
        'Give --policy <folder>, or --players <name=policy,...> for policies that play each other.';
      throw new ToolEnvError('usage.arguments', message);
    }
    const { skill: skills = [] } = given;
    const entrants = given.policy.flatMap((policy, index): Entrant[] => {
      const plain = { policy, label: policy, plugin: plugins.policies[index]! };
      if (skills.length < 2) return [plain];
      return skills.map((skill) => ({ ...plain, skill, label: `${policy} with ${skill}` }));
    });
    const gates = await EvaluationGates.open(given);
    await evaluateEntrants(ref, entrants, given, plugins.env!, signal, gates);
  });
};

/** The flags of a command that evaluates, except the policies and the folder. */
export function addEvaluationFlags(command: Command): void {
  command
    .option('--resume', 'resume the evaluation in --out: finished episodes are not played again')
    .option('--json', 'print one JSON object instead of the table');
  for (const schema of [evaluationOptions, budgetSchema])
    for (const flag of schemaFlags(schema)) command.addOption(flag);
  for (const flag of [...envFlags(), ...agentFlags(), ...recordingFlags()]) command.addOption(flag);
}

/**
 * Plays the same tasks with each entrant, and prints the scores and the differences from the first.
 * @param gates What the scores must be.
 */
export async function evaluateEntrants(
  ref: string,
  entrants: readonly Entrant[],
  given: EvaluationFlags,
  env: PluginFlags<'envs'>,
  signal: AbortSignal,
  gates?: EvaluationGates,
): Promise<void> {
  const flags = completeFlags(evaluationOptions, given);
  const { split, temperature, seed } = flags;
  const { out, resume = false } = given;
  const budget = new Budget(completeFlags(budgetSchema, given));
  refuseContradictions(entrants, given);
  env.chosen(given);
  for (const { plugin } of entrants) plugin.chosen(given);
  const models = entrants.filter(({ policy }) => !isKnownPlayer(policy));
  if (models.length > 0) warnOfIdleSampling(env, given, flags);
  if (out !== undefined) await refuseEvaluationFolder(out, resume);
  let lock: FolderLock | undefined;
  // After the environment and the policy are open: a mistake in their options makes no folder.
  const enter = async () => {
    if (out !== undefined) lock ??= await lockEvaluationFolder(out, resume);
  };
  try {
    const evaluated: Evaluated[] = [];
    for (const entrant of entrants) {
      const folder = out && (entrants.length === 1 ? out : join(out, folderName(entrant.label)));
      evaluated.push(
        await evaluateEntrant({ ref, entrant, folder, enter, flags, given, env, gates, budget }, signal),
      );
    }
    const manner = temperature === 0 ? 'greedy' : `temperature ${temperature}`;
    const title = `${ref}, ${split}, ${manner}, seed ${seed}; means with 95 % confidence intervals over tasks`;
    if (evaluated.length === 1) {
      const { summary, evaluation, usage } = evaluated[0]!;
      print(summary, `${title}\n${evaluationTable(evaluation, usage)}`, given.json);
      refuseUnscored(evaluated[0]!.policy, evaluation);
      await gates?.judge(ref, evaluated);
      return;
    }
    const compared = compare(evaluated);
    const differences = compared.slice(1).map(({ policy, difference }) => ({ policy, ...difference }));
    const skills = compareSkills(entrants, evaluated);
    const summary = {
      ...{ policies: evaluated.map((each) => each.summary), differences },
      ...(skills.length > 0 && { skills }),
    };
    const table = [comparisonTable(compared), ...skills.map(skillLine)].join('\n');
    print(summary, `${title}, differences by task\n${table}`, given.json);
    if (skills.some(({ verdict }) => verdict === 'worse')) process.exitCode = 1;
    if (out !== undefined) await writeJson(join(out, 'comparison.json'), summary);
    for (const { policy, evaluation } of evaluated) refuseUnscored(policy, evaluation);
    await gates?.judge(ref, evaluated);
  } finally {
    await lock?.release();
  }
}

function refuseContradictions(
  entrants: readonly Entrant[],
  { out, resume, record, replay }: EvaluationFlags,
): void {
  const refuse = (message: string) => new ToolEnvError('usage.arguments', message);
  if (resume && out === undefined) throw refuse('--resume needs --out: give the folder of the evaluation.');
  const places = entrants.map(({ label }) => placeOf(label));
  const twice = entrants.find((_, index) => places.indexOf(places[index]!) < index)?.label;
  if (twice !== undefined) throw refuse(`--policy ${twice} is given twice: give each policy once.`);
  const flag = record === undefined ? (replay === undefined ? undefined : '--replay') : '--record';
  if (flag === undefined || (entrants.length === 1 && !resume)) return;
  throw refuse(
    `${flag} is for one policy and a whole evaluation: leave it out, or give one --policy without --resume.`,
  );
}

interface EntrantPlan {
  ref: string;
  entrant: Entrant;
  folder: string | undefined;
  /** Called before the folder is used. */
  enter(): Promise<void>;
  flags: EvaluationOptions;
  given: EvaluationFlags;
  env: PluginFlags<'envs'>;
  gates: EvaluationGates | undefined;
  budget: Budget;
}

async function evaluateEntrant(
  { ref, entrant, folder: path, enter, flags, given, env: namedEnv, gates, budget }: EntrantPlan,
  signal: AbortSignal,
): Promise<Evaluated> {
  const { seed } = flags;
  const { label: name, plugin, adapt = (policy) => policy } = entrant;
  const recorded = path !== undefined && given.resume ? await readEvaluation(path) : undefined;
  const chosen = await beginPolicy(plugin.chosen(given), recorded);
  const chosenEnv = namedEnv.chosen(given);
  const { options } = chosenEnv;
  const open = (tap: ToolTap | undefined) =>
    openForPlayer(chosen.plugin, chosenEnv.plugin, () =>
      openRunEnv(chosenEnv, {
        ...given,
        ...(entrant.skill !== undefined && { skill: [entrant.skill] }),
        seed,
        tap,
      }),
    );
  const limits = { signal, deadline: flags.deadline };
  const { opened: env, policy, finish, close } = await openRun(open, chosen, { ...given, seed, ...limits });
  try {
    const { split, temperature, maxTokens, topP, topK, minP, constrainCalls } = flags;
    const { prompts, skill, agent } = env.identity ?? {};
    const ofRevision = policy.revision === undefined ? {} : { revision: policy.revision };
    const identity = {
      ...{ env: ref, envVersion: env.packageVersion, envOptions: options, tools: given.tool ?? [] },
      ...(prompts !== undefined && { prompts }),
      ...(skill !== undefined && { skill }),
      ...(agent !== undefined && { agent }),
      ...{ policy: name, policyOptions: identityOptions(chosen), ...ofRevision },
      ...{ split, temperature, maxTokens, topP, topK, minP, seed, ...(constrainCalls && { constrainCalls }) },
    };
    await gates?.checkMetrics(env);
    await enter();
    const folder = path === undefined ? undefined : await EvaluationFolder.open(path, identity);
    const limited = adapt(budget.watch(policy));
    const plan = { ...flags, env, policy: limited, signal };
    const evaluation = await playAll(plan, { folder, path, budget });
    await finish();
    const { usage } = policy;
    const summary = {
      ...{ env: ref, envVersion: env.packageVersion, envOptions: options },
      ...(prompts !== undefined && { prompts }),
      ...(skill !== undefined && { skill }),
      ...(agent !== undefined && { agent }),
      ...{ policy: name, policyOptions: chosen.options, ...ofRevision },
      ...flags,
      ...evaluation,
      ...(usage && { usage }),
    };
    if (path !== undefined) await writeJson(join(path, 'summary.json'), summary);
    return { policy: name, summary, evaluation, usage, folder: path };
  } finally {
    await close();
  }
}

function compare(evaluated: readonly Evaluated[]): Compared[] {
  const [first] = evaluated;
  return evaluated.map(({ policy, evaluation, usage }, index): Compared => {
    const same = { policy, evaluation, cost: usage?.cost };
    if (index === 0) return same;
    const names = Object.keys(evaluation.means);
    return { ...same, difference: scoreDifferences(evaluation, first!.evaluation, names) };
  });
}

function print(summary: object, table: string, json = false): void {
  process.stdout.write(json ? `${JSON.stringify(summary)}\n` : `${table}\n`);
}

/** The last two names of a policy's path as the name of a folder, which says nothing else of this machine. A digest keeps policies apart. */
function folderName(label: string): string {
  const policy = placeOf(label);
  const last = policy.replace(/\S*\/(?=[^/\s]+\/[^/\s]+$)/, '');
  const safe = last.replaceAll(/[^\w.-]+/g, '-').replaceAll(/^[-.]+|-+$/g, '');
  const digest = createHash('sha256').update(policy).digest('hex').slice(0, 8);
  return `${safe.slice(-80)}-${digest}`;
}

/** Plays the episodes that are not finished, with a progress bar. */
async function playAll(
  options: EvaluateOptions & EvaluationOptions,
  {
    folder,
    path,
    budget,
  }: { folder: EvaluationFolder | undefined; path: string | undefined; budget: Budget },
): Promise<Evaluation> {
  const { env, count, samples, split } = options;
  const finished = folder?.finished ?? [];
  const all = samples * Math.min(count, await env.tasks[split].length);
  const bar = new Progress('episodes', all);
  const scores = new RunningScores();
  for (const trajectory of finished) scores.add(trajectory);
  try {
    return await evaluate({
      ...options,
      finished,
      async onTrajectory(trajectory) {
        scores.add(trajectory);
        bar.update(scores.episodes, scores.status);
        await folder?.addEpisode(trajectory);
      },
    });
  } catch (error) {
    const { episodes } = scores;
    const remedy =
      path === undefined
        ? 'raise the budget; with --out, an evaluation can be resumed'
        : `they are in ${path}, and --resume plays the other ${all - episodes}`;
    throw budget.errorOf(error, () => `${episodes} of ${all} episodes are finished: ${remedy}.`);
  } finally {
    bar.stop();
  }
}
