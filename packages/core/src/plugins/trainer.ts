/** Trainer: consumes an environment, a policy and its learner; says what happens as it goes. */
import type { EnvHandle } from '../env/env-definition.ts';
import type { Learner } from '../protocol/learner.ts';
import type { Policy } from '../protocol/policy.ts';
import type { Trajectory } from '../protocol/trajectory.ts';
import type { JsonSchema } from '../schemas/json-schema.ts';

/** What every trainer is given, whatever its own options. */
export interface Run {
  env: EnvHandle<unknown>;
  policy: Policy;
  /** Trains the weights that `policy` samples from. */
  learner: Learner;
  /** Folder for checkpoints and logs; it exists. */
  out: string;
  seed: number;
  /** Go on from the newest checkpoint in `out`. */
  resume?: boolean;
  /** Ends the run by throwing the signal's reason; what was checkpointed stays. */
  signal?: AbortSignal;
}

export type Metrics = Record<string, number>;

/** `step` counts from 1; an evaluation before the first update is of step 0. */
export type TrainEvent =
  | { type: 'rollout'; step: number; metrics: Metrics; trajectories: Trajectory[] }
  | { type: 'update'; step: number; metrics: Metrics }
  | { type: 'evaluation'; step: number; metrics: Metrics }
  | { type: 'checkpoint'; step: number; folder: string };

export interface Trainer<Options = Record<string, unknown>> {
  readonly name: string;
  readonly description: string;
  /** JSON Schema of `Options`, with defaults: CLI flags and validation come from it. */
  readonly options: JsonSchema;
  /**
   * @param run What the command or program gives to every trainer.
   * @param options The trainer's own. What is absent takes the schema's default.
   */
  train(run: Run, options: Partial<Options>): AsyncIterable<TrainEvent>;
}

export function defineTrainer<Options>(trainer: Trainer<Options>): Trainer<Options> {
  return trainer;
}
