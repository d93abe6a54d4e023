/** Recovery: what policies do after searches that failed. */
import { isParseFailure, type Trajectory } from '@toolenv/core';

/** Counts of what happened after failed searches. */
export interface Recovery {
  /** Episodes with a failed search. */
  episodes: number;
  /** Of these, episodes with the right answer. */
  right: number;
  /** Failed searches. */
  failed: number;
  /** Of these, searches that the next turn repeats. */
  repeated: number;
}

export function addRecovery(sum: Recovery, { steps, rewards }: Trajectory): Recovery {
  const calls = steps.flatMap(({ calls }) => calls);
  const queries = calls.map(({ call }) =>
    isParseFailure(call) ? undefined : JSON.stringify(call.arguments),
  );
  const failed = [...calls.keys()].filter((index) => calls[index]!.text === '');
  const hasFailed = Number(failed.length > 0);
  return {
    episodes: sum.episodes + hasFailed,
    right: sum.right + hasFailed * (rewards.em ?? 0),
    failed: sum.failed + failed.length,
    repeated: sum.repeated + failed.filter((index) => queries[index] === queries[index + 1]).length,
  };
}
