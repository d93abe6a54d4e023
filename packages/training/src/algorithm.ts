/** Algorithm: what a trainer adds to the run loop, which does everything else. */
import type { Trajectory } from '@toolenv/core';
import type { AdamW, BackwardOutputs, Learner, TokenGradients, TokenRow } from '@toolenv/core/learner';
import type { Metrics, Run } from '@toolenv/core/plugins';
import type { TrainingRow } from './rows/training-row.ts';
import type { RunOptions } from './run-options.ts';

/** What an update learns from: the scored episodes of a rollout. Aborted episodes are not among them. */
export interface RolloutBatch {
  /** Updates done before. */
  step: number;
  /** Seeds everything random in this update. */
  seed: number;
  trajectories: readonly Trajectory[];
  /** All rows of `trajectories`, in their order; at least one. */
  rows: readonly TrainingRow[];
}

export interface Algorithm {
  /**
   * Learns from a rollout.
   * @returns Metrics, named as in `metricNames`.
   */
  update(batch: RolloutBatch): Promise<Metrics>;
  /** Numbers that a resumed run needs beside weights and optimizer state. The loop saves and restores this object. */
  memory?: Record<string, number>;
  /** Dynamic sampling (DAPO, arXiv 2503.14476): plays other tasks in place of groups that are not worth learning from. */
  resample?: {
    /** The trajectories to learn from; whole groups are kept or left out. */
    keep(trajectories: readonly Trajectory[]): Trajectory[];
    /** Times that other tasks are played. */
    maxAttempts: number;
  };
}

/** What an algorithm is made from. */
export interface AlgorithmContext<Options> {
  /** The trainer's own options and those of the run loop, with defaults. */
  options: Options & RunOptions;
  run: Run;
  learner: Learner;
  /**
   * Accumulates the gradients of a batch and takes one optimizer step.
   * @returns `outputs` of the weights before the step, if the learner's backward pass computes them.
   * @throws ToolEnvError `bug.gradient_not_finite`, before the weights change, naming the file that holds the batch.
   */
  optimize(
    rows: readonly TokenRow[],
    gradients: TokenGradients,
    optimizer: AdamW,
  ): Promise<{ gradNorm: number; criticGradNorm?: number; outputs?: BackwardOutputs }>;
}
