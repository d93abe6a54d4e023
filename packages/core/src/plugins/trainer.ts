/** Trainer: improves a policy in an environment through its learner, and reports events on the way. */
import type { EnvHandle } from '../env/env-definition.ts';
import type { JsonSchema } from '../protocol/json-schema.ts';
import type { Learner } from '../protocol/learner.ts';
import type { Policy } from '../protocol/policy.ts';
import type { Trajectory } from '../protocol/trajectory.ts';
import type { RolloutOptions } from '../rollout/rollout.ts';

/** What the command or program gives to every trainer. */
export interface Run {
  /** Absent only if the trainer learns from data and nothing is evaluated in an environment. */
  env?: EnvHandle<unknown>;
  policy: Policy;
  /** Other environments that evaluations play too, by names of the caller's choice. */
  evaluateOn?: Readonly<Record<string, EnvHandle<unknown>>> | undefined;
  /** Trains the weights that `policy` samples from. A trainer that improves prompts gets a policy that may have none. */
  learner: Learner;
  /** Existing folder for checkpoints and logs. */
  out: string;
  seed: number;
  /** Continues from the newest checkpoint in `out`. */
  resume?: boolean;
  /** A shared folder whose workers play the training episodes. Absent: this process plays them. */
  rollouts?: string | undefined;
  /** Ends the run by throwing the signal's reason. Checkpoints stay. */
  signal?: AbortSignal;
  /** Called with what tools say of the progress of their calls, in the episodes that this process plays. */
  onProgress?: RolloutOptions['onProgress'];
  /** Called while a trainer reads a file that it learns from, which may take minutes. */
  onData?: (progress: DataProgress) => void;
}

/** How far a trainer has read a file. */
export interface DataProgress {
  file: string;
  /** Share of the file, 0 to 1. */
  share: number;
}

/** Numbers by name, as metrics.jsonl has them. */
export type Metrics = Record<string, number>;

/** What an update reports about the tokens of an episode, for viewers. */
export interface TokenReport {
  episodeId: string;
  /** For each turn, a number for each sampled token. */
  turns: { advantages?: number[]; entropies?: number[] }[];
}

/**
 * `step` counts from 1. An evaluation before the first update has step 0. `of` is the number of steps of the run, if no option
 * says it.
 */
export type TrainEvent =
  | { type: 'rollout'; step: number; metrics: Metrics; trajectories: Trajectory[] }
  | { type: 'update'; step: number; of?: number; metrics: Metrics; tokens?: TokenReport[] }
  | { type: 'evaluation'; step: number; metrics: Metrics }
  | { type: 'checkpoint'; step: number; folder: string };

/** The kinds of plugins that are parts of trainers. */
export type PartKind = 'losses' | 'advantages' | 'scorers';

/**
 * A loss, an advantage estimator or a scorer that a package publishes. Trainers know what else a part has: `defineLoss` and `defineAdvantage` of
 * `@toolenv/training` and `defineScorer` make parts.
 */
export interface TrainerPart {
  readonly name: string;
  readonly description: string;
  /** JSON Schema of an object: the part's own options, which become options of the trainer. */
  readonly options: JsonSchema;
}

/** An algorithm that a package publishes. */
export interface Trainer<Options = Record<string, unknown>> {
  readonly name: string;
  readonly description: string;
  /**
   * `data`: the trainer plays no episodes, its steps have no rollouts, and its runs need no environment. `perturbations`: it plays its own
   * episodes, with noise on the weights. Default `episodes`.
   */
  readonly learnsFrom?: 'episodes' | 'data' | 'perturbations';
  /**
   * `prompts`: the policy stays as it is, and needs no learner. The trainer searches for better open texts of the environment; the run
   * ends with them in `prompts.json`. Default `weights`.
   */
  readonly improves?: 'weights' | 'prompts';
  /**
   * JSON Schema of `Options`, with defaults. Command-line flags and validation come from it. A property may have the
   * annotation `mayChange: true`: the option does not change what is learned, so that a resumed run may have another value.
   * If that depends on other options, `mayChange` is a JSON Schema that the complete options meet.
   * A property with the annotation `part: 'losses'`, `'advantages'` or `'scorers'` names a part: its `enum` has the names that the
   * trainer knows, and `withPart` adds to them.
   */
  readonly options: JsonSchema;
  /**
   * The values that the run uses for options that are absent and whose schema has no default, such as a learning rate that depends on
   * the learner. The record of the run has them.
   */
  resolve?(
    options: Partial<Options>,
    run: Pick<Run, 'env' | 'policy' | 'learner' | 'rollouts'>,
  ): Readonly<Record<string, unknown>>;
  /**
   * The same trainer with the user's part. The part's options become options of the trainer. Absent if the trainer has no parts.
   * @param name The value of the option, which the record of a run has: a reference, or the name of the part.
   * @throws ToolEnvError `usage.bad_plugin` for a value that is not such a part, `usage.bad_option` if an option of the part
   *   has the name of another option of the trainer.
   */
  withPart?(option: string, part: TrainerPart, name: string): Trainer<Options>;
  /**
   * @param options The trainer's own options; absent options take the schema's defaults.
   * @throws ToolEnvError `usage.*` for bad options, when the first event is requested.
   */
  train(run: Run, options: Partial<Options>): AsyncIterable<TrainEvent>;
}
