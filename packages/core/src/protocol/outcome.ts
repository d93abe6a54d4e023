/** Outcome: the state of an episode, as one tagged union instead of two booleans. */
import type { ToolEnvError } from './errors.ts';

/** The limit that cut an episode short. */
export type TruncationReason = 'max_turns' | 'max_tokens' | 'deadline' | 'context';

/** The episode is running, has ended by itself, or was cut short. Its steps may be scored. */
export type ScoredOutcome =
  | { kind: 'running' }
  | { kind: 'terminated'; reason: string }
  | { kind: 'truncated'; reason: TruncationReason };

/** The infrastructure failed. An aborted episode has no reward and never becomes a training sample. */
export interface AbortedOutcome {
  kind: 'aborted';
  cause: ToolEnvError;
  /** Whether another attempt at the same task may succeed. */
  retryable: boolean;
}

/** The state of an episode. */
export type Outcome = ScoredOutcome | AbortedOutcome;

/** The episode continues. */
export const running: ScoredOutcome = { kind: 'running' };

/** The episode has ended by itself, for a reason such as `answered`. */
export function terminated(reason: string): ScoredOutcome {
  return { kind: 'terminated', reason };
}

/** A limit has cut the episode short. */
export function truncated(reason: TruncationReason): ScoredOutcome {
  return { kind: 'truncated', reason };
}

/** The machinery failed: the episode has no reward. `retryable` says whether playing it again may help. */
export function aborted(cause: ToolEnvError, retryable = true): AbortedOutcome {
  return { kind: 'aborted', cause, retryable };
}

/** Code of the abort when a player leaves its episode, by a reset or by closing. */
export const episodeLeft = 'infrastructure.episode_left';
