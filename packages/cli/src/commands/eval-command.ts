/** `toolenv eval`: plays the first tasks of a split with one policy or several, and reports the scores. */
import { createHash } from 'node:crypto';
import { join } from 'node:path';
import { type EpisodeSummary, summariseEpisode, ToolEnvError, type Trajectory } from '@toolenv/core';
import { changeableOptions, type PolicyUsage } from '@toolenv/core/plugins';
import type { ToolTap } from '@toolenv/core/recording';
import {
  type EvaluateOptions,
  type Evaluation,
  type EvaluationOptions,
  evaluate,
  evaluationOptions,
  type FolderLock,
  pairedDifference,
  taskScores,
} from '@toolenv/training';
import { Command } from 'commander';
import { type Compared, comparisonTable } from '../display/comparison-table.ts';
import { evaluationTable } from '../display/evaluation-table.ts';
import { Progress } from '../display/progress.ts';
import { RunningScores } from '../display/running-scores.ts';
import { addEnvFlags, chosenEnv, type NamedEnv } from '../flags/env-flags.ts';
import { addPluginFlags, type NamedPlugin, pluginOptions } from '../flags/plugin-flags.ts';
import { completeFlags, schemaFlags } from '../flags/schema-flags.ts';
import {
  EvaluationFolder,
  lockEvaluationFolder,
  refuseEvaluationFolder,
  writeJson,
} from '../run/evaluation-folder.ts';
import {
  type EnvFlags,
  envFlags,
  openRun,
  openRunEnv,
  type RecordingFlags,
  recordingFlags,
} from '../run/open-run.ts';

interface OwnFlags extends EnvFlags, RecordingFlags {
  policy: string[];
  out?: string;
  resume?: boolean;
  json?: boolean;
}

/** The plugins that a command line names. */
interface Plugins {
  env: NamedEnv;
  policies: readonly NamedPlugin<'policies'>[];
}

/** What a policy did. */
interface Evaluated {
  policy: string;
  /** What summary.json says of it. */
  summary: object;
  evaluation: Evaluation;
  /** Of this run; episodes of an earlier run that is resumed are not in it. */
  usage: PolicyUsage | undefined;
  /** By the place in the plan. */
  episodes: EpisodeSummary[];
}

export function evalCommand(signal: AbortSignal, plugins: Plugins): Command {
  const command = new Command('eval')
    .summary('score policies in an environment')
    .description('Plays the first tasks of a split with one policy or several and reports the scores.')
    .argument('<environment>', 'reference, as @toolenv/envs-qa/bridge-v1, or a module; its options are flags')
    .requiredOption(
      '--policy <folder>',
      'Hugging Face folder, openai:<url>#<model>, reference of a policy, or a module; its options are flags; repeat it to compare policies on the same tasks',
      (name: string, before: string[] = []) => [...before, name],
    )
    .option(
      '--out <folder>',
      'write trajectories.jsonl and summary.json there; several policies have folders in it, beside comparison.json',
    )
    .option('--resume', 'go on with the evaluation in --out: its finished episodes are not played again')
    .option('--json', 'print one JSON object instead of the table');
  for (const flag of [...envFlags(), ...recordingFlags(), ...schemaFlags(evaluationOptions)])
    command.addOption(flag);
  addEnvFlags(command, plugins.env);
  addPluginFlags(command, plugins.policies);
  return command.action((ref: string, given: OwnFlags & Record<string, unknown>) =>
    evalPolicies(ref, given, plugins, signal),
  );
}

async function evalPolicies(
  ref: string,
  given: OwnFlags & Record<string, unknown>,
  named: Plugins,
  signal: AbortSignal,
): Promise<void> {
  const flags = completeFlags(evaluationOptions, given);
  const { split, temperature, seed } = flags;
  const { out, resume = false, policy: policies } = given;
  refuseContradictions(given);
  chosenEnv(named.env, given);
  for (const policy of named.policies) pluginOptions(policy, given);
  if (out !== undefined) await refuseEvaluationFolder(out, resume);
  let lock: FolderLock | undefined;
  // After the environment and the policy are open: a mistake in their options makes no folder.
  const enter = async () => {
    if (out !== undefined) lock ??= await lockEvaluationFolder(out, resume);
  };
  try {
    const evaluated: Evaluated[] = [];
    for (const [index, policy] of policies.entries()) {
      const folder = out && (policies.length === 1 ? out : join(out, folderName(policy)));
      const plugins = { env: named.env, policy: named.policies[index]! };
      const plan = { ref, policy, folder, enter, flags, given, named: plugins };
      evaluated.push(await evalPolicy(plan, signal));
    }
    const manner = temperature === 0 ? 'greedy' : `temperature ${temperature}`;
    const title = `${ref}, ${split}, ${manner}, seed ${seed}; means with 95 % confidence intervals over tasks`;
    if (evaluated.length === 1) {
      const { summary, evaluation, usage } = evaluated[0]!;
      print(summary, `${title}\n${evaluationTable(evaluation, usage)}`, given.json);
      return;
    }
    const compared = compare(evaluated, flags.samples);
    const differences = compared.slice(1).map(({ policy, difference }) => ({ policy, ...difference }));
    const summary = { policies: evaluated.map((each) => each.summary), differences };
    print(summary, `${title}, differences by task\n${comparisonTable(compared)}`, given.json);
    if (out !== undefined) await writeJson(join(out, 'comparison.json'), summary);
  } finally {
    await lock?.release();
  }
}

function refuseContradictions({ policy, out, resume, record, replay }: OwnFlags): void {
  const refuse = (message: string) => new ToolEnvError('usage.arguments', message);
  if (resume && out === undefined) throw refuse('--resume needs --out: give the folder of the evaluation.');
  const twice = policy.find((name, index) => policy.indexOf(name) < index);
  if (twice !== undefined) throw refuse(`--policy ${twice} is given twice: give each policy once.`);
  const flag = record === undefined ? (replay === undefined ? undefined : '--replay') : '--record';
  if (flag === undefined || (policy.length === 1 && !resume)) return;
  throw refuse(
    `${flag} is for one policy and a whole evaluation: leave it out, or give one --policy without --resume.`,
  );
}

interface PolicyPlan {
  ref: string;
  policy: string;
  folder: string | undefined;
  /** Called before the folder is used. */
  enter(): Promise<void>;
  flags: EvaluationOptions;
  given: OwnFlags & Record<string, unknown>;
  named: { env: NamedEnv; policy: NamedPlugin<'policies'> };
}

async function evalPolicy(
  { ref, policy: name, folder: path, enter, flags, given, named }: PolicyPlan,
  signal: AbortSignal,
): Promise<Evaluated> {
  const { seed, samples } = flags;
  const chosen = pluginOptions(named.policy, given);
  const { source, options } = chosenEnv(named.env, given);
  const open = (tap: ToolTap | undefined) => openRunEnv({ source, options }, { ...given, seed, tap });
  const { opened: env, policy, finish, close } = await openRun(open, chosen, { ...given, seed });
  try {
    const { split, temperature, maxTokens, topP, topK, minP } = flags;
    const changeable = changeableOptions(chosen.plugin.options, chosen.options);
    const lasting = Object.entries(chosen.options).filter(([option]) => !changeable.includes(option));
    const identity = {
      ...{ env: ref, envVersion: env.packageVersion, envOptions: options, tools: given.tool ?? [] },
      ...{ policy: name, policyOptions: Object.fromEntries(lasting) },
      ...{ split, temperature, maxTokens, topP, topK, minP, seed },
    };
    await enter();
    const folder = path === undefined ? undefined : await EvaluationFolder.open(path, identity);
    const episodes: EpisodeSummary[] = [];
    const keep = (trajectory: Trajectory) => {
      episodes.push({
        ...summariseEpisode(trajectory),
        index: trajectory.group * samples + trajectory.sample,
      });
    };
    for (const trajectory of folder?.finished ?? []) keep(trajectory);
    const evaluation = await playAll({ ...flags, env, policy, signal }, folder, keep);
    await finish();
    const { usage } = policy;
    const summary = {
      ...{ env: ref, envVersion: env.packageVersion, envOptions: options },
      ...{ policy: name, policyOptions: chosen.options },
      ...flags,
      ...evaluation,
      ...(usage && { usage }),
    };
    if (path !== undefined) await writeJson(join(path, 'summary.json'), summary);
    return { policy: name, summary, evaluation, usage, episodes };
  } finally {
    await close();
  }
}

function compare(evaluated: readonly Evaluated[], samples: number): Compared[] {
  const [first] = evaluated;
  return evaluated.map(({ policy, evaluation, usage, episodes }, index): Compared => {
    const same = { policy, evaluation, cost: usage?.cost };
    if (index === 0) return same;
    const between = (score: (summary: EpisodeSummary) => number | null | undefined) =>
      pairedDifference(taskScores(first!.episodes, samples, score), taskScores(episodes, samples, score));
    const means = Object.keys(evaluation.means).map(
      (name) => [name, between(({ rewards }) => rewards[name])] as const,
    );
    return {
      ...same,
      difference: { reward: between(({ reward }) => reward), means: Object.fromEntries(means) },
    };
  });
}

function print(summary: object, table: string, json = false): void {
  process.stdout.write(json ? `${JSON.stringify(summary)}\n` : `${table}\n`);
}

/** The name of a policy as that of a folder. A digest keeps names apart that differ in other characters only. */
function folderName(policy: string): string {
  const safe = policy.replaceAll(/[^\w.-]+/g, '-').replaceAll(/^[-.]+|-+$/g, '');
  const digest = createHash('sha256').update(policy).digest('hex').slice(0, 8);
  return `${safe.slice(-80)}-${digest}`;
}

/** Plays the episodes that are not finished, with a progress bar. */
async function playAll(
  options: EvaluateOptions & EvaluationOptions,
  folder: EvaluationFolder | undefined,
  keep: (trajectory: Trajectory) => void,
): Promise<Evaluation> {
  const { env, count, samples, split } = options;
  const finished = folder?.finished ?? [];
  const bar = new Progress('episodes', samples * Math.min(count, env.tasks[split].length));
  const scores = new RunningScores();
  for (const trajectory of finished) scores.add(trajectory);
  try {
    return await evaluate({
      ...options,
      finished,
      async onTrajectory(trajectory) {
        scores.add(trajectory);
        keep(trajectory);
        bar.update(scores.episodes, scores.status);
        await folder?.addEpisode(trajectory);
      },
    });
  } finally {
    bar.stop();
  }
}
