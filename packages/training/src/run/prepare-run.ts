/** prepareRun: checks what `train` is given, and completes it. */
import { basename } from 'node:path';
import { type EnvHandle, type Policy, ToolEnvError } from '@toolenv/core';
import type { TrainablePolicy } from '@toolenv/core/learner';
import { completeOptions, loadPlugin, type Run, type Trainer } from '@toolenv/core/plugins';
import { didYouMean } from '@toolenv/core/schemas';
import type { MetricSink } from '../reports/metric-sink.ts';
import { type SinkName, sinksOf } from '../reports/reports.ts';
import { envName, type RunIdentity, runIdentity } from '../run-folder/run-config.ts';
import { makeFreshFolder } from '../run-folder/run-folder.ts';
import { chooseParts } from '../trainer/choose-parts.ts';
import { refuseConstrainedRollouts, requireParts } from '../trainer/require-parts.ts';
import { type TrainSettings, trainSettings } from '../trainer/train-settings.ts';

export interface TrainOptions<Options> extends CommonOptions {
  policy: TrainablePolicy;
  /**
   * A trainer, such as `grpo({ learningRate: 3e-5 })`, or the reference of a plugin. Default: '@toolenv/trainer-grpo/grpo-v1'.
   * `Trainer<object>` lets a loop go over different trainers.
   */
  trainer?: Trainer<Options> | Trainer<object> | string;
}

export interface PromptTrainOptions<Options> extends CommonOptions {
  /** It stays as it is, and needs no learner. */
  policy: Policy;
  /** A trainer that improves prompts, such as `gepa({ reflection: 'openai:…' })`. */
  trainer: Trainer<Options> & { readonly improves: 'prompts' };
}

/** Both kinds of trainers. */
interface AnyTrainer {
  policy: Policy & Partial<TrainablePolicy>;
  trainer?: unknown;
}

interface CommonOptions extends Partial<Omit<TrainSettings, 'reportTo'>> {
  /** May be absent if the trainer learns from data. It then evaluates in the environment, if it has one. */
  env?: EnvHandle<unknown>;
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
  /** Called with what tools say of the progress of their calls, in the episodes that this process plays. */
  onProgress?: Run['onProgress'];
  /** Called while a trainer reads a file that it learns from. */
  onData?: Run['onData'];
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
  'onProgress',
  'onData',
  'identity',
  'evaluateOn',
  ...Object.keys(trainSettings.properties),
];

/** A run that can begin. */
export interface PreparedRun {
  run: Run;
  trainer: Trainer;
  options: Record<string, unknown>;
  /** What a resumed run must have in common with the run in the folder. */
  identity: RunIdentity;
  settings: TrainSettings;
  sinks: readonly MetricSink[];
}

/** Makes the folder of the run if `out` is absent. Throws as `train` does. */
export async function prepareRun<Options>(
  given: TrainOptions<Options> | PromptTrainOptions<Options>,
): Promise<PreparedRun> {
  requireParts('train', given, given?.env === undefined ? ['policy'] : ['env', 'policy']);
  const { env, policy, trainer: named = defaultTrainer, out, ...around }: CommonOptions & AnyTrainer = given;
  const { signal, onProgress, onData, identity, evaluateOn, ...others } = around;
  const { seed, resume, change, trajectories, tensorboard, rollouts, reportTo = [], ...own } = others;
  const sinks = await sinksOf(reportTo);
  const settings = completeSettings({ seed, resume, change, trajectories, tensorboard, rollouts }, out);
  const loaded = typeof named === 'string' ? await loadPlugin('trainers', named) : (named as Trainer);
  const isOfPrompts = loaded?.improves === 'prompts';
  // A prompt trainer asks for no learner.
  const learner = isOfPrompts ? policy.learner! : learnerOf(policy);
  const { trainer, options: chosen } = await chooseParts(loaded, own);
  const options = trainerOptions(trainer, chosen);
  const isOfData = trainer.learnsFrom === 'data';
  if (!isOfData) requireParts('train', { env, policy });
  if (rollouts !== undefined && (isOfPrompts || isOfData || trainer.learnsFrom === 'perturbations')) {
    const why = isOfData ? 'learns from data and plays no episodes' : 'plays its own episodes';
    throw new ToolEnvError('usage.run', `train: ${trainer.name} ${why}: leave rollouts out.`);
  }
  const name = typeof named === 'string' ? named : trainer.name;
  const described = runIdentity(env, policy, {
    trainer: name,
    trainerOptions: options,
    seed: settings.seed,
  });
  const folder = out ?? (await makeFreshFolder(basename(env ? envName(env) : name)));
  const calls = { signal, onProgress, onData };
  const common = { env, policy, learner, evaluateOn, rollouts, ...calls, out: folder };
  return {
    run: { ...common, seed: settings.seed, resume: settings.resume },
    trainer,
    options,
    identity: { ...described, ...identity },
    settings,
    sinks,
  };
}

function completeSettings(given: Partial<TrainSettings>, out: string | undefined): TrainSettings {
  const settings = completeOptions(trainSettings, given, 'train') as unknown as TrainSettings;
  if (settings.change && !settings.resume)
    throw new ToolEnvError('usage.run', 'train: change is for a resumed run: give resume too.');
  if (settings.resume && out === undefined)
    throw new ToolEnvError('usage.run', 'train: resume needs out: give the folder of the run.');
  return settings;
}

function learnerOf({ learner, spec }: AnyTrainer['policy']): TrainablePolicy['learner'] {
  if (learner) return learner;
  const message = `The policy ${spec.name} has no learner and cannot be trained: open a checkpoint folder, with loadPolicy('<folder>') of @toolenv/policy.`;
  throw new ToolEnvError('usage.not_trainable', message);
}

/** The trainer's complete options. Names the nearest option of `train` or of the trainer for one that neither has. */
function trainerOptions(trainer: Trainer, given: object): Record<string, unknown> {
  if (typeof trainer?.train !== 'function') {
    const message =
      'train: trainer is not a trainer: give grpo({ … }) of @toolenv/trainer-grpo, or a reference.';
    throw new ToolEnvError('usage.run', message);
  }
  refuseConstrainedRollouts(given);
  const { name, options: schema } = trainer;
  const known = Object.keys((schema.properties ?? {}) as object);
  const unknown = Object.keys(given).find((option) => !known.includes(option));
  if (unknown !== undefined && !schema.additionalProperties) {
    const hint = didYouMean(unknown, [...settingNames, ...known], 'Options');
    throw new ToolEnvError('usage.unknown_option', `train: ${name} has no option "${unknown}". ${hint}`);
  }
  return completeOptions(schema, { ...given }, name);
}
