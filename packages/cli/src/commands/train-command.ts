/** `toolenv train`: improves a policy in an environment with a trainer, and writes metrics, episodes and checkpoints. */
import { join } from 'node:path';
import { ToolEnvError } from '@toolenv/core';
import type { TrainEvent } from '@toolenv/core/plugins';
import { Command } from 'commander';
import { trainingCurves } from '../display/curves.ts';
import { terminalChart } from '../display/terminal-chart.ts';
import { TrainingProgress } from '../display/training-progress.ts';
import { addEnvFlags, envOptions, type NamedEnv } from '../flags/env-flags.ts';
import { addPluginFlags, defaultTrainer, type NamedPlugin, pluginOptions } from '../flags/plugin-flags.ts';
import { completeFlags, propertiesOf, schemaFlags } from '../flags/schema-flags.ts';
import { checkMemory } from '../run/memory-check.ts';
import { type EnvFlags, envFlags, openRun, type RecordingFlags, recordingFlags } from '../run/open-run.ts';
import {
  abandonRun,
  beginRun,
  exportPolicy,
  newestCheckpoint,
  refuseOtherRun,
  refuseUsedFolder,
} from '../run/run-folder.ts';
import { RunLog, readMetrics } from '../run/run-log.ts';
import { TensorBoardLog } from '../run/tensorboard-log.ts';

interface OwnFlags extends EnvFlags, RecordingFlags {
  policy: string;
  trainer: string;
  out: string;
  resume?: boolean;
  trajectories: boolean;
  tensorboard?: boolean;
  json?: boolean;
}

/** The plugins that a command line names. */
interface Plugins {
  env: NamedEnv;
  policy: NamedPlugin<'policies'>;
  trainer: NamedPlugin<'trainers'>;
}

const seedSchema = {
  type: 'object',
  properties: {
    seed: { type: 'integer', minimum: 0, default: 1, description: 'of everything that is random' },
  },
} as const;

export function trainCommand(signal: AbortSignal, plugins: Plugins): Command {
  const command = new Command('train')
    .summary('improve a policy in an environment')
    .description(
      'Improves a policy in an environment, and writes metrics, episodes, checkpoints and the policy.',
    )
    .argument('<environment>', 'reference, as @toolenv/envs-qa/bridge-v1; its options are flags')
    .requiredOption(
      '--policy <folder>',
      'Hugging Face folder to begin with, or reference of a policy; its options are flags',
    )
    .requiredOption('--out <folder>', 'new folder for metrics, episodes, checkpoints and the policy')
    .option('--resume', 'go on from the newest checkpoint in --out')
    .option('--trainer <reference>', 'trainer; its options are flags', defaultTrainer)
    .option('--no-trajectories', 'do not write the training episodes')
    .option('--tensorboard', 'write the metrics for TensorBoard too, to <out>/tensorboard')
    .option('--json', 'print each event as a line of JSON');
  for (const flag of [...envFlags(), ...recordingFlags(), ...schemaFlags(seedSchema)])
    command.addOption(flag);
  addEnvFlags(command, plugins.env);
  addPluginFlags(command, [plugins.policy, plugins.trainer]);
  return command.action((ref: string, given: OwnFlags & Record<string, unknown>) =>
    train(ref, given, plugins, signal),
  );
}

async function train(
  ref: string,
  given: OwnFlags & Record<string, unknown>,
  named: Plugins,
  signal: AbortSignal,
): Promise<void> {
  const { out, resume = false, tool = [] } = given;
  const { seed } = completeFlags(seedSchema, given);
  const trainer = pluginOptions(named.trainer, given);
  const policy = pluginOptions(named.policy, given);
  const options = envOptions(named.env, given);
  const identity = {
    env: ref,
    envOptions: options,
    tool,
    policy: given.policy,
    policyOptions: lastingOptions(policy),
    trainer: given.trainer,
    seed,
  };
  if (resume) await refuseOtherRun(out, identity);
  else await refuseUsedFolder(out, 'choose another folder, or go on with that run by --resume');
  const run = await openRun({ ref, options }, policy, { ...given, seed });
  const { env, handle } = run;
  let progress: TrainingProgress | undefined;
  let last = 0;
  let isAtWork = false;
  try {
    if (env.capabilities?.seedable === false) {
      process.stderr.write(
        `${ref} does not repeat from a seed: another run with --seed ${seed} will differ.\n`,
      );
    }
    const { learner, memory } = handle;
    if (!learner) {
      const message = `${given.policy} cannot be trained: give a checkpoint folder.`;
      throw new ToolEnvError('usage.not_trainable', message);
    }
    if (memory) process.stderr.write(`${checkMemory(memory)}\n`);
    await beginRun(out, { ...identity, trainerOptions: trainer.options });
    const log = new RunLog(out, { resume });
    const board = given.tensorboard ? new TensorBoardLog(join(out, 'tensorboard')) : undefined;
    const begun = resume ? await newestCheckpoint(out) : undefined;
    last = begun?.step ?? 0;
    progress = new TrainingProgress(Number(trainer.options.steps ?? 0), last);
    const parts = { env, policy: handle.policy, learner, out, seed, resume, signal };
    for await (const event of trainer.plugin.train(parts, trainer.options)) {
      // Only now is the step known from which a resumed run goes on: its newest checkpoint may have been damaged.
      if (!isAtWork) last = event.type === 'rollout' ? event.step - 1 : event.step;
      isAtWork = true;
      if (event.type === 'rollout') {
        warnOfAborted(event);
        if (given.trajectories) await log.writeEpisodes(event.trajectories, { step: event.step });
      }
      await log.write(event);
      await board?.write(event);
      progress.show(event);
      if (given.json) process.stdout.write(`${eventLine(event)}\n`);
      if (event.type === 'checkpoint') last = event.step;
    }
    await run.finish();
  } catch (error) {
    progress?.stop();
    // A run that failed before its first step may be tried again with the same --out.
    if (!isAtWork && !resume) await abandonRun(out);
    if (signal.aborted) {
      const rest = last > 0 ? `${last} steps are kept: go on with --resume` : 'no step was finished';
      process.stderr.write(`Stopped; ${rest}.\n`);
    }
    throw error;
  } finally {
    progress?.stop();
    await run.close();
  }
  await report(out, { isAtWork, json: given.json === true });
}

/** The options of a policy that a resumed run must have too. */
function lastingOptions({ plugin, options }: ReturnType<typeof pluginOptions<'policies'>>): object {
  const properties = propertiesOf(plugin.options);
  return Object.fromEntries(Object.entries(options).filter(([name]) => !properties[name]?.mayChange));
}

/** Warns of a step whose episodes all aborted: the step has nothing to learn from. */
function warnOfAborted({ step, trajectories }: Extract<TrainEvent, { type: 'rollout' }>): void {
  const [first] = trajectories;
  if (first?.outcome.kind !== 'aborted' || trajectories.some(({ reward }) => reward !== null)) return;
  process.stderr.write(`Step ${step}: every episode was aborted (${first.outcome.cause.message}).\n`);
}

/** An event without its episodes, which are in trajectories.jsonl. */
function eventLine(event: TrainEvent): string {
  return JSON.stringify(event, (key, value: unknown) => (key === 'trajectories' ? undefined : value));
}

async function report(out: string, { isAtWork, json }: { isAtWork: boolean; json: boolean }): Promise<void> {
  const checkpoint = await newestCheckpoint(out);
  const folder = join(out, 'policy');
  if (checkpoint) await exportPolicy(checkpoint.folder, folder);
  if (json) return;
  const chart = terminalChart(trainingCurves(await readMetrics(out)));
  const steps = checkpoint?.step ?? 0;
  const summary = isAtWork
    ? `${steps} steps done.`
    : `Nothing to do: the run has its ${steps} steps; give more --steps to go on.`;
  process.stdout.write(`${chart}\n\n${summary}\n${checkpoint ? `The policy is in ${folder}\n` : ''}`);
}
