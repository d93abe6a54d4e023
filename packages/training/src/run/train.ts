/** train: improves a policy in an environment with a trainer, and keeps the folder of the run. */
import { existsSync } from 'node:fs';
import { basename, join } from 'node:path';
import { type EnvHandle, ToolEnvError } from '@toolenv/core';
import type { TrainablePolicy } from '@toolenv/core/learner';
import {
  changeableOptions,
  completeOptions,
  loadPlugin,
  type Run,
  type TrainEvent,
  type Trainer,
} from '@toolenv/core/plugins';
import { didYouMean } from '@toolenv/core/schemas';
import { requireParts } from '../options/require-parts.ts';
import type { RunOptions } from '../options/run-options.ts';
import { type TrainSettings, trainSettings } from '../options/train-settings.ts';
import type { MetricSink, RunEnd } from '../reports/metric-sink.ts';
import { Reports, type SinkName, sinksOf } from '../reports/reports.ts';
import { configFile, removeConfig, writeConfig } from '../run-folder/config-file.ts';
import { lockFolder } from '../run-folder/folder-lock.ts';
import { recordChanges } from '../run-folder/run-changes.ts';
import { envName, runIdentity, runVersions } from '../run-folder/run-config.ts';
import { exportPolicy, makeFreshFolder, refuseOtherRun, refuseUsedFolder } from '../run-folder/run-folder.ts';
import { chooseParts } from '../trainer/choose-parts.ts';
import { checkEvent } from './check-event.ts';
import { RunFiles } from './run-files.ts';

export interface TrainOptions<Options> extends Partial<Omit<TrainSettings, 'reportTo'>> {
  /** May be absent if the trainer learns from data. It then evaluates in the environment, if it has one. */
  env?: EnvHandle<unknown>;
  policy: TrainablePolicy;
  /**
   * A trainer, as `grpo({ learningRate: 3e-5 })`, or the reference of a plugin. Default: '@toolenv/trainer-grpo/grpo-v1'.
   * `Trainer<object>` lets a loop go over different trainers.
   */
  trainer?: Trainer<Options> | Trainer<object> | string;
  /**
   * Other environments to evaluate on, by names of your choice. Their metrics begin with the name: `hard/reward`. They are not a
   * part of the run's identity.
   */
  evaluateOn?: Readonly<Record<string, EnvHandle<unknown>>>;
  /** The folder of the run. Default: a fresh folder `runs/<environment>-<date and time>`. */
  out?: string;
  /** Where the metrics go too: names of trackers, or sinks of your own. A sink cannot slow or end the run. Default: nowhere. */
  reportTo?: readonly (SinkName | MetricSink)[];
  /** Ends the run by throwing the signal's reason. Finished steps are kept. */
  signal?: AbortSignal;
  /**
   * More entries of config.json, or other values of them. A resumed run must have the same, unless `change` is set. Values
   * are JSON.
   */
  identity?: Readonly<Record<string, unknown>>;
}

const defaultTrainer = '@toolenv/trainer-grpo/grpo-v1';
const settingNames = [
  'trainer',
  'out',
  'signal',
  'identity',
  'evaluateOn',
  ...Object.keys(trainSettings.properties),
];

/**
 * Trains, and yields what happens: `for await (const event of train({ env, policy, steps: 4 })) …`. Nothing runs until the
 * first event is requested. The options of the trainer and of the run loop stand beside the others, and override those of a
 * configured trainer. TypeScript knows them from a trainer; with a reference, name their type: `train<PpoOptions>({ … })`.
 *
 * `out` gets config.json, metrics.jsonl, trajectories.jsonl, curves.svg, `checkpoints/`, and at the end the trained policy
 * in `policy/`. No other run can use it meanwhile.
 * @throws ToolEnvError `usage.run` without an environment or a policy, `usage.not_trainable` for a policy without a learner,
 *   `usage.report`, `usage.unknown_plugin`, `usage.unknown_option`, `usage.bad_option`, `usage.out_not_empty`, `usage.other_run`,
 *   `usage.folder_in_use`, `infrastructure.disk`, and what the trainer throws.
 */
export async function* train<Options extends object = RunOptions>(
  given: TrainOptions<Options> & NoInfer<Partial<Options>>,
): AsyncGenerator<TrainEvent, void, void> {
  requireParts('train', given, given?.env === undefined ? ['policy'] : ['env', 'policy']);
  const { env, policy, trainer = defaultTrainer, out, signal, identity, evaluateOn, ...others } = given;
  const { seed, resume, change, trajectories, tensorboard, rollouts, reportTo = [], ...own } = others;
  const sinks = await sinksOf(reportTo);
  const settings = completeSettings({ seed, resume, change, trajectories, tensorboard, rollouts });
  const { learner } = policy;
  if (!learner) {
    const message = `The policy ${policy.spec.name} has no learner and cannot be trained: open a checkpoint folder, with loadPolicy('<folder>') of @toolenv/policy.`;
    throw new ToolEnvError('usage.not_trainable', message);
  }
  const loaded = typeof trainer === 'string' ? await loadPlugin('trainers', trainer) : (trainer as Trainer);
  const { trainer: plugin, options: chosen } = await chooseParts(loaded, own);
  const options = trainerOptions(plugin, chosen);
  if (plugin.learnsFrom !== 'data') requireParts('train', { env, policy });
  else if (rollouts !== undefined) {
    const message = `train: ${plugin.name} learns from data and plays no episodes: leave rollouts out.`;
    throw new ToolEnvError('usage.run', message);
  }

  const name = typeof trainer === 'string' ? trainer : plugin.name;
  const described = { trainer: name, trainerOptions: options, seed: settings.seed };
  const same = { ...runIdentity(env, policy, described), ...identity };
  const mayChange = changeableOptions(plugin.options, options).map((option) => `trainerOptions.${option}`);
  if (settings.resume && out === undefined)
    throw new ToolEnvError('usage.run', 'train: resume needs out: give the folder of the run.');
  const folder = out ?? (await makeFreshFolder(basename(env ? envName(env) : name)));
  const lock = await lockFolder(folder);
  try {
    if (!settings.resume)
      await refuseUsedFolder(folder, 'choose another folder, or go on with its run by resume');
    else if (!settings.change) await refuseOtherRun(folder, same, { mayChange });
    const run = {
      env,
      policy,
      evaluateOn,
      learner,
      out: folder,
      rollouts,
      signal,
      seed: settings.seed,
      resume: settings.resume,
    };
    const config = { ...same, ...(await runVersions(env)) };
    yield* keepRun(run, plugin.train(run, options), { config, settings, sinks, title: titleOf(plugin, run) });
  } finally {
    await lock.release();
  }
}

interface RunKeeping {
  config: Record<string, unknown>;
  settings: TrainSettings;
  sinks: readonly MetricSink[];
  title: string;
}

/** Passes the events of a run on, and keeps its folder. */
async function* keepRun(
  { out, resume, signal }: Run,
  events: AsyncIterable<TrainEvent>,
  { config, settings, sinks, title }: RunKeeping,
): AsyncGenerator<TrainEvent, void, void> {
  const isNew = !(resume && existsSync(join(out, configFile)));
  if (isNew) await writeConfig(out, config);
  const files = new RunFiles(out, { ...settings, title });
  const reports = await Reports.begin(sinks, { name: title, folder: out, config });
  let isAtWork = false;
  let end: RunEnd = 'killed';
  try {
    for await (const event of events) {
      checkEvent(event, String(config.trainer));
      // Only the first event says from which step on a resumed run has the present options.
      if (!isAtWork && !isNew) await recordChanges(out, nextStep(event), config);
      isAtWork = true;
      await files.write(event);
      reports.write(event);
      yield event;
    }
    await files.drawCurves();
    await exportPolicy(out);
    end = 'finished';
  } catch (error) {
    if (!signal?.aborted) end = 'failed';
    // A run that failed before its first step may be tried again with the same folder.
    if (!isAtWork && isNew) await removeConfig(out);
    throw error;
  } finally {
    await reports.close(end);
  }
}

/** The step that a resumed run plays next, or has just played. An evaluation or a checkpoint belongs to the step before. */
function nextStep({ type, step }: TrainEvent): number {
  return type === 'rollout' || type === 'update' ? step : step + 1;
}

function titleOf({ name }: Trainer, { env, seed }: Run): string {
  return `${name}${env ? ` on ${envName(env)}` : ''}, seed ${seed}`;
}

function completeSettings(given: Partial<TrainSettings>): TrainSettings {
  const settings = completeOptions(trainSettings, given, 'train') as unknown as TrainSettings;
  if (settings.change && !settings.resume)
    throw new ToolEnvError('usage.run', 'train: change is for a run that goes on: give resume too.');
  return settings;
}

/** The trainer's complete options. Names the nearest option of `train` or of the trainer for one that neither has. */
function trainerOptions(trainer: Trainer, given: object): Record<string, unknown> {
  if (typeof trainer?.train !== 'function') {
    const message =
      'train: trainer is not a trainer: give grpo({ … }) of @toolenv/trainer-grpo, or a reference.';
    throw new ToolEnvError('usage.run', message);
  }
  const { name, options: schema } = trainer;
  const known = Object.keys((schema.properties ?? {}) as object);
  const unknown = Object.keys(given).find((option) => !known.includes(option));
  if (unknown !== undefined && !schema.additionalProperties) {
    const hint = didYouMean(unknown, [...settingNames, ...known], 'Options');
    throw new ToolEnvError('usage.unknown_option', `train: ${name} has no option "${unknown}". ${hint}`);
  }
  return completeOptions(schema, { ...given }, name);
}
