/** `toolenv eval`: plays the first tasks of a split with a policy and reports the scores. */
import type { ToolTap } from '@toolenv/core/recording';
import {
  type EvaluateOptions,
  type Evaluation,
  type EvaluationOptions,
  evaluate,
  evaluationOptions,
} from '@toolenv/training';
import { Command } from 'commander';
import { evaluationTable } from '../display/evaluation-table.ts';
import { Progress } from '../display/progress.ts';
import { RunningScores } from '../display/running-scores.ts';
import { addEnvFlags, chosenEnv, type NamedEnv } from '../flags/env-flags.ts';
import { addPluginFlags, type NamedPlugin, pluginOptions } from '../flags/plugin-flags.ts';
import { completeFlags, schemaFlags } from '../flags/schema-flags.ts';
import { EvaluationFolder, refuseEvaluationFolder } from '../run/evaluation-folder.ts';
import {
  type EnvFlags,
  envFlags,
  openRun,
  openRunEnv,
  type RecordingFlags,
  recordingFlags,
} from '../run/open-run.ts';

interface OwnFlags extends EnvFlags, RecordingFlags {
  policy: string;
  out?: string;
  json?: boolean;
}

/** The plugins that a command line names. */
interface Plugins {
  env: NamedEnv;
  policy: NamedPlugin<'policies'>;
}

export function evalCommand(signal: AbortSignal, plugins: Plugins): Command {
  const command = new Command('eval')
    .summary('score a policy in an environment')
    .description('Plays the first tasks of a split with a policy and reports the scores.')
    .argument('<environment>', 'reference, as @toolenv/envs-qa/bridge-v1, or a module; its options are flags')
    .requiredOption(
      '--policy <folder>',
      'Hugging Face folder, openai:<url>#<model>, or reference of a policy; its options are flags',
    )
    .option('--out <folder>', 'write trajectories.jsonl and summary.json there')
    .option('--json', 'print one JSON object instead of the table');
  for (const flag of [...envFlags(), ...recordingFlags(), ...schemaFlags(evaluationOptions)])
    command.addOption(flag);
  addEnvFlags(command, plugins.env);
  addPluginFlags(command, [plugins.policy]);
  return command.action((ref: string, given: OwnFlags & Record<string, unknown>) =>
    evalPolicy(ref, given, plugins, signal),
  );
}

async function evalPolicy(
  ref: string,
  given: OwnFlags & Record<string, unknown>,
  named: Plugins,
  signal: AbortSignal,
): Promise<void> {
  const flags = completeFlags(evaluationOptions, given);
  const { split, temperature, seed } = flags;
  const { out } = given;
  const chosen = pluginOptions(named.policy, given);
  const { source, options } = chosenEnv(named.env, given);
  if (out !== undefined) await refuseEvaluationFolder(out);
  const open = (tap: ToolTap | undefined) => openRunEnv({ source, options }, { ...given, seed, tap });
  const { opened: env, policy, finish, close } = await openRun(open, chosen, { ...given, seed });
  let folder: EvaluationFolder | undefined;
  try {
    if (out !== undefined) folder = await EvaluationFolder.open(out);
    const evaluation = await playAll({ ...flags, env, policy, signal }, folder);
    await finish();

    const run = {
      env: ref,
      envVersion: env.packageVersion,
      envOptions: options,
      policy: given.policy,
      policyOptions: chosen.options,
    };
    const summary = JSON.stringify({ ...run, ...flags, ...evaluation }, null, given.json ? undefined : 2);
    const manner = temperature === 0 ? 'greedy' : `temperature ${temperature}`;
    const title = `${ref}, ${split}, ${manner}, seed ${seed}; means with 95 % confidence intervals over tasks`;
    process.stdout.write(given.json ? `${summary}\n` : `${title}\n${evaluationTable(evaluation)}\n`);
    await folder?.writeSummary(summary);
  } finally {
    await close().finally(() => folder?.close());
  }
}

/** Plays the episodes, with a progress bar. */
async function playAll(
  options: EvaluateOptions & EvaluationOptions,
  folder: EvaluationFolder | undefined,
): Promise<Evaluation> {
  const { env, count, samples, split } = options;
  const bar = new Progress('episodes', samples * Math.min(count, env.tasks[split].length));
  const scores = new RunningScores();
  try {
    return await evaluate({
      ...options,
      async onTrajectory(trajectory) {
        scores.add(trajectory);
        bar.update(scores.episodes, scores.status);
        await folder?.addEpisode(trajectory);
      },
    });
  } finally {
    bar.stop();
  }
}
