/** Trajectory: the complete record of an episode, enough to score it again, replay it and learn from it. */
import type { Action } from './action.ts';
import type { ToolCallRecord } from './env.ts';
import type { Observation } from './message.ts';
import type { Outcome } from './outcome.ts';
import type { RewardSpec, Rewards } from './reward.ts';

/** One turn: what the policy saw, what it did, and what the environment answered. */
export interface TrajectoryStep {
  observation: Observation;
  action: Action;
  /** Empty if a deadline cut the step short or the step was aborted. */
  calls: ToolCallRecord[];
  /** Calls that the environment itself made since the last step. */
  environmentCalls?: ToolCallRecord[];
  /** Absent if the step was aborted. */
  rewards?: Rewards;
  /** Rewards of the players in `Trajectory.players`, by name. */
  playerRewards?: Readonly<Record<string, Rewards>>;
  info: Record<string, unknown>;
  /** Whether to learn from the action. Default true. */
  learn?: boolean;
}

/** The complete record of an episode, enough to score it again, to replay it and to learn from it. */
export interface Trajectory<Task = unknown> {
  version: 1;
  /** Reference of the environment's plugin, or its bare name if it is not a plugin. */
  env: string;
  /** Version of the environment's npm package, if it has one. */
  envVersion?: string;
  policy: string;
  episodeId: string;
  /** Position of the episode in the rollout's plan, from 0. */
  index: number;
  /** A JSON value. */
  task: Task;
  /** Episodes of the same group share a task and are compared with each other. */
  group: number;
  /** Index of the episode in its group. */
  sample: number;
  seed: number;
  /** Declares the components of `rewards`. */
  rewardSpec: RewardSpec;
  steps: TrajectoryStep[];
  outcome: Outcome;
  /** Each component summed over the steps that scored it; `null` if no step did, or if the episode was aborted. */
  rewards: Rewards;
  /** The weighted sum of `rewards`; `null` for an aborted episode, and for one that nothing scored: no number means "not scored". */
  reward: number | null;
  /**
   * The players besides the first whom the policy played too, by name, with their sums as above. The steps of a player are those of the
   * conversation of its name.
   */
  players?: Readonly<Record<string, { rewards: Rewards; reward: number | null }>>;
}
