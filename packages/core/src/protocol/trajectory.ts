/** Trajectory: everything that happened in one episode, enough to score it again, replay it and learn from it. */

import type { Action } from './action.ts';
import type { ToolCallRecord } from './env.ts';
import type { Observation } from './message.ts';
import type { Outcome } from './outcome.ts';
import type { RewardSpec, Rewards } from './reward.ts';

/** One turn: what the policy saw, what it did, what came of it. */
export interface TrajectoryStep {
  observation: Observation;
  action: Action;
  /** Empty if the step was cut short by a deadline or aborted. */
  calls: ToolCallRecord[];
  /** Absent if the step was aborted. */
  rewards?: Rewards;
  info: Record<string, unknown>;
}

export interface Trajectory<Task = unknown> {
  version: 1;
  /** Reference of the environment's plugin, else its bare name. */
  env: string;
  /** Version of the npm package the environment came from, if it came from one. */
  envVersion?: string;
  policy: string;
  episodeId: string;
  /** Place of the episode in the rollout's plan, from 0. */
  index: number;
  /** A JSON value. */
  task: Task;
  /** Episodes of one group share a task and are compared with each other. */
  group: number;
  /** Number of the episode in its group. */
  sample: number;
  seed: number;
  /** What the components below mean and weigh. */
  rewardSpec: RewardSpec;
  steps: TrajectoryStep[];
  outcome: Outcome;
  /** Each component summed over the steps that scored it, `null` where none did and for an aborted episode. */
  rewards: Rewards;
  /** The weighted scalar; `null` for an aborted episode. */
  reward: number | null;
}
