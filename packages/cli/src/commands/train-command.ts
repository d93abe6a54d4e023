/** `toolenv train`: improves a policy in an environment with a trainer, and writes down how it went. */
import { join } from 'node:path';
import { ToolEnvError } from '@toolenv/core';
import { completeOptions, loadPlugin, type TrainEvent, type Trainer } from '@toolenv/core/plugins';
import { Command } from 'commander';
import { trainingCurves } from '../display/curves.ts';
import { terminalChart } from '../display/terminal-chart.ts';
import { TrainingProgress } from '../display/training-progress.ts';
import { deviceSchema, readDevice } from '../flags/device-flag.ts';
import { learnerSchema, readLearnerFlags } from '../flags/learner-flags.ts';
import { readRuntime, runtimeSchema } from '../flags/runtime-flag.ts';
import { completeFlags, readFlags, schemaFlags } from '../flags/schema-flags.ts';
import { checkMemory } from '../run/memory-check.ts';
import { openPolicy } from '../run/open-policy.ts';
import { type EnvFlags, envFlags, openRunEnv } from '../run/open-run-env.ts';
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

interface OwnFlags extends EnvFlags {
  policy: string;
  trainer: string;
  out: string;
  resume?: boolean;
  trajectories: boolean;
  tensorboard?: boolean;
  json?: boolean;
  policyOption?: string[];
}

export const defaultTrainer = '@toolenv/trainer-grpo/grpo-v1';

const seedSchema = {
  type: 'object',
  properties: {
    seed: { type: 'integer', minimum: 0, default: 1, description: 'of everything that is random' },
  },
};
/** What a trainer is given by the command and cannot have as an option of its own. */
const taken = [
  'env',
  'policy',
  'learner',
  'out',
  'seed',
  'resume',
  'signal',
  'trainer',
  'tool',
  'trajectories',
  'tensorboard',
  'json',
  'loraRank',
  'loraAlpha',
  'loraTargets',
  'tokenBudget',
  'gradientCheckpointing',
  'runtime',
  'device',
  'precision',
];

/**
 * @param trainerRef The trainer whose options become flags.
 * @param trainer `undefined` only to show the help of a command that lacks it.
 */
export function trainCommand(signal: AbortSignal, trainerRef: string, trainer: Trainer | undefined): Command {
  const command = new Command('train')
    .summary('improve a policy in an environment')
    .description(
      'Improves a policy in an environment, and writes metrics, episodes, checkpoints and the policy.',
    )
    .argument('<environment>', 'reference, as @toolenv/envs-qa/bridge-v1')
    .requiredOption('--policy <folder>', 'Hugging Face folder to begin with, or reference of a policy plugin')
    .requiredOption('--out <folder>', 'new folder for metrics, episodes, checkpoints and the policy')
    .option('--resume', 'go on from the newest checkpoint in --out')
    .option('--trainer <reference>', 'trainer; its options are flags', defaultTrainer)
    .option('--no-trajectories', 'do not write the training episodes')
    .option('--tensorboard', 'write the metrics for TensorBoard too, to <out>/tensorboard')
    .option('--json', 'print each event as a line of JSON')
    .option('--policy-option <key=value...>', "set a policy plugin's options");
  const own = [seedSchema, learnerSchema, runtimeSchema, deviceSchema].flatMap((schema) =>
    schemaFlags(schema),
  );
  for (const flag of [...envFlags(), ...own]) command.addOption(flag);
  const flags = trainer ? schemaFlags(trainer.options, taken) : [];
  for (const flag of flags) command.addOption(flag.helpGroup(`Options of ${trainerRef}:`));
  if (!trainer) command.addHelpText('after', `\n${trainerRef} is not installed: its options are not listed.`);
  return command.action((ref: string, given: OwnFlags & Record<string, unknown>) => {
    if (trainer) return train(ref, given, trainer, signal);
    throw new ToolEnvError('usage.missing_package', `Trainer ${trainerRef} is not installed.`);
  });
}

/** The trainer of a command line, read before its flags are known; `undefined` if it is not there and help is wanted. */
export async function trainerOf(ref: string, wantsHelp: boolean): Promise<Trainer | undefined> {
  try {
    return await loadPlugin('trainers', ref);
  } catch (error) {
    if (wantsHelp && ToolEnvError.isInstance(error)) return undefined;
    throw error;
  }
}

async function train(
  ref: string,
  given: OwnFlags & Record<string, unknown>,
  trainer: Trainer,
  signal: AbortSignal,
): Promise<void> {
  const { out, resume = false, envOption = [], tool = [], policyOption = [] } = given;
  const { seed } = completeFlags<{ seed: number }>(seedSchema, given);
  const own = Object.fromEntries(Object.entries(given).filter(([name]) => !taken.includes(name)));
  const options = completeOptions(trainer.options, readFlags(trainer.options, own), given.trainer);
  const learnerFlags = readLearnerFlags(given, seed);
  const identity = {
    env: ref,
    envOption,
    tool,
    policy: given.policy,
    policyOption,
    lora: learnerFlags.lora,
    trainer: given.trainer,
    seed,
  };
  if (resume) await refuseOtherRun(out, identity);
  else await refuseUsedFolder(out, 'choose another folder, or go on with that run by --resume');
  const env = await openRunEnv(ref, { envOption, tool, seed });
  if (env.capabilities?.seedable === false) {
    process.stderr.write(
      `${ref} does not repeat from a seed: another run with --seed ${seed} will differ.\n`,
    );
  }
  const { policy, learner, memory, close } = await openPolicy(given.policy, {
    pairs: policyOption,
    learner: learnerFlags,
    runtime: readRuntime(given),
    ...readDevice(given),
  });
  if (!learner) {
    const message = `${given.policy} cannot be trained: give a checkpoint folder.`;
    throw new ToolEnvError('usage.not_trainable', message);
  }

  if (memory) process.stderr.write(`${checkMemory(memory)}\n`);
  await beginRun(out, { ...identity, trainerOptions: options });
  const log = new RunLog(out, { resume });
  const board = given.tensorboard ? new TensorBoardLog(join(out, 'tensorboard')) : undefined;
  const begun = resume ? await newestCheckpoint(out) : undefined;
  const progress = new TrainingProgress(Number(options.steps ?? 0), begun?.step);
  let last = begun?.step ?? 0;
  let isAtWork = false;
  try {
    const run = { env, policy, learner, out, seed, resume, signal };
    for await (const event of trainer.train(run, options)) {
      // Where a resumed run goes on is known now: its newest checkpoint may have been damaged.
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
  } catch (error) {
    progress.stop();
    // What was wrong before the first step is mended and tried again with the same --out.
    if (!isAtWork && !resume) await abandonRun(out);
    if (signal.aborted) {
      const rest = last > 0 ? `${last} steps are kept: go on with --resume` : 'no step was finished';
      process.stderr.write(`Stopped; ${rest}.\n`);
    }
    throw error;
  } finally {
    progress.stop();
    await close().finally(() => env.close());
  }
  await report(out, { isAtWork, json: given.json === true });
}

/** Where nothing was scored there is nothing to learn, and the reason is the machinery's. */
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
