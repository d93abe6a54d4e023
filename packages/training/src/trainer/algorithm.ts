/** Algorithm: what a trainer adds to the run loop, which does everything else. */
import type { Prompts, TaskResult, Trajectory } from '@toolenv/core';
import type {
  AdamW,
  BackwardOutputs,
  Learner,
  TokenGradients,
  TokenRow,
  TokenValues,
} from '@toolenv/core/learner';
import type { Metrics, Run, TrainerPart } from '@toolenv/core/plugins';
import type { TrainingRow } from '../rows/training-row.ts';
import type { CheckpointPart } from '../run-folder/checkpoints.ts';
import type { RunOptions } from './run-options.ts';

/** What an update learns from: the scored episodes of a rollout. Aborted episodes, and those that nothing scored, are not among them. */
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
  /** Numbers that a resumed run needs besides weights and optimizer state. The loop saves and restores this object. */
  memory?: Record<string, number>;
  /** Dynamic sampling (DAPO, arXiv 2503.14476): plays other tasks in place of groups that are not worth learning from. */
  resample?: {
    /** The trajectories to learn from; whole groups are kept or left out. */
    keep(trajectories: readonly Trajectory[]): Trajectory[];
    /** Times that other tasks are played. */
    maxAttempts: number;
  };
  /** Whether it learns also from episodes that nothing scored, because it needs no rewards. Their `reward` is `null`. */
  learnsUnscored?: boolean;
  /** Releases what the algorithm has opened, at the end of the run. */
  close?(): Promise<void>;
}

/** Learns from its own data, for example from a file. */
export interface DataAlgorithm {
  /**
   * Learns in one step. Equal steps and seeds learn the same.
   * @param at.step Updates done before.
   * @param at.seed Seeds everything random in this update.
   */
  learn(at: { step: number; seed: number }): Promise<Metrics>;
  /** Number of steps, in place of the option `steps`. */
  steps?: number;
  /** Scores on held-out data. */
  evaluate?(): Promise<Metrics>;
  /** Numbers that checkpoints keep, such as a counter. */
  memory?: Record<string, number>;
}

/** Plays its own episodes, because it changes weights or texts between them. */
export interface PlayingAlgorithm {
  /**
   * Plays the episodes of a step. Weights and algorithm change only when `learn` is called, so that an interrupted run keeps whole steps.
   * Equal steps and seeds play the same.
   * @param at.step Steps done before.
   * @param at.seed Seeds everything random in this step.
   * @param at.results What the environment may choose tasks by.
   */
  play(at: { step: number; seed: number; results: ReadonlyMap<number, TaskResult> }): Promise<{
    /** Every episode, aborted episodes included. */
    trajectories: Trajectory[];
    /** Number of a group → index of its task. Absent: the environment is told no results. */
    tasks?: ReadonlyMap<number, number>;
    /** Takes in what the step has found. */
    learn(): Metrics | Promise<Metrics>;
  }>;
  /** Releases what the algorithm has opened. */
  close?(): Promise<void>;
}

/** An algorithm of any kind: a `PromptAlgorithm` plays its own episodes too. */
export type AnyAlgorithm = Algorithm | DataAlgorithm | PlayingAlgorithm;

/** Improves open texts of the environment, with a policy that stays as it is. */
export interface PromptAlgorithm extends PlayingAlgorithm {
  /** The best texts so far, all of them. */
  readonly prompts: Prompts;
  /** Whether a budget is spent. */
  readonly isOver: boolean;
  /** The most steps that there can be. */
  readonly steps: number;
  /** The file of a checkpoint that has what a resumed run needs. */
  readonly state: CheckpointPart;
}

/** A quantity of each sampled token that an update can report. */
export type TokenQuantity = 'advantages' | 'entropies';

/** What an algorithm is made from. */
export interface AlgorithmContext<Options> {
  /** The trainer's own options and those of the run loop, with defaults. */
  options: Options & RunOptions;
  run: Run;
  /** The user's own parts, by option. The trainer's built-in parts are not among them. */
  parts: Readonly<Record<string, TrainerPart | undefined>>;
  /** Its methods throw `bug.trainer` if the trainer improves prompts and the policy has no learner. */
  learner: Learner;
  /**
   * Accumulates the gradients of a batch and takes one optimizer step. The run's options give the constants of Adam, and the
   * schedule, which multiplies the learning rates.
   * @returns `outputs` of the weights before the step, if the learner's backward pass computes them.
   * @throws ToolEnvError `bug.gradient_not_finite`, before the weights change, naming the file that holds the batch.
   */
  optimize(
    rows: readonly TokenRow[],
    gradients: TokenGradients,
    optimizer: AdamW,
  ): Promise<{ gradNorm: number; criticGradNorm?: number; outputs?: BackwardOutputs }>;
  /**
   * Keeps what the update says of each sampled token, for people who look at episodes. It changes nothing that is learned.
   * @param values [B][T] for the rows.
   */
  report(quantity: TokenQuantity, rows: readonly TrainingRow[], values: TokenValues): void;
}
