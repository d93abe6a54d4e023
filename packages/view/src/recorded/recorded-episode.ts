/** An episode as a run's file has it. */
import type { ToolCallRecord, Trajectory } from '@toolenv/core';

/** `step` is the training step; episodes of evaluations have none. */
export type RecordedEpisode = Trajectory & { step?: number };

/** What can be wrong with a call: a mistake of the model, or a result in which the tool says that the call failed. */
export const mistakeCodes = [
  'malformed_call',
  'unknown_tool',
  'invalid_arguments',
  'too_many_calls',
  'tool_error',
] as const;
export type MistakeCode = (typeof mistakeCodes)[number];

export const outcomeKinds = ['running', 'terminated', 'truncated', 'aborted'] as const;

export function mistakeOf({ mistake, result }: ToolCallRecord): MistakeCode | undefined {
  return mistake?.code ?? (result?.isError ? 'tool_error' : undefined);
}

/** `terminated:answered`, `truncated:max_turns`, `aborted:infrastructure.timeout`. */
export function endOf({ outcome }: Trajectory): string {
  if (outcome.kind === 'aborted') return `aborted:${outcome.cause.code}`;
  return 'reason' in outcome ? `${outcome.kind}:${outcome.reason}` : outcome.kind;
}
