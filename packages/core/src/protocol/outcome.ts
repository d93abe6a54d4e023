/** How an episode stands: an algebra instead of two booleans. */
import type { ToolEnvError } from './errors.ts';

export type TruncationReason = 'max_turns' | 'max_tokens' | 'deadline' | 'context';

/** The environment goes on, reached an end of its own, or was cut short: in each case what happened may be scored. */
export type ScoredOutcome =
  | { kind: 'running' }
  | { kind: 'terminated'; reason: string }
  | { kind: 'truncated'; reason: TruncationReason };

/** The machinery failed. An aborted episode has no reward and never becomes a training sample. */
export interface AbortedOutcome {
  kind: 'aborted';
  cause: ToolEnvError;
  /** Whether the same task may succeed if tried again. */
  retryable: boolean;
}

export type Outcome = ScoredOutcome | AbortedOutcome;

export const running: ScoredOutcome = { kind: 'running' };

export function terminated(reason: string): ScoredOutcome {
  return { kind: 'terminated', reason };
}

export function truncated(reason: TruncationReason): ScoredOutcome {
  return { kind: 'truncated', reason };
}

export function aborted(cause: ToolEnvError, retryable = true): AbortedOutcome {
  return { kind: 'aborted', cause, retryable };
}
