/** TurnUsage and PolicyUsage: what a turn, and a policy, have asked of a model on a server. */
import type { ModelUsage } from './tool.ts';

/**
 * What a turn, or the turns of an episode, asked of a model on a server. Input tokens include the cached tokens. A reply that was kept on disk
 * asks for nothing: it counts in `cachedReplies` alone, and its cost is 0.
 */
export interface TurnUsage extends ModelUsage {
  /** The input tokens that the server had in its cache. */
  cachedTokens: number;
  /** In dollars; absent if no price is known. */
  cost?: number;
  /** Replies of which the server did not say how many tokens they have; absent if there are none. */
  uncountedReplies?: number;
  /** Replies that came from a cache or a recording on disk, without a request; absent if there are none. */
  cachedReplies?: number;
  /** Wall-clock time until the reply, repeated requests included. */
  milliseconds: number;
}

/** The requests and tokens of a policy on a server so far. Those of its opening and of turns that failed are in it. */
export interface PolicyUsage extends Omit<TurnUsage, 'milliseconds'> {
  /** Requests that were sent again after a fault; `requests` has them too. */
  retries: number;
}

/** The sum of both. Its cost is known if both costs are known. */
export function addTurnUsage(
  one: TurnUsage | undefined,
  other: TurnUsage | undefined,
): TurnUsage | undefined {
  if (!one || !other) return one ?? other;
  const { cost, uncountedReplies = 0, cachedReplies = 0 } = one;
  const uncounted = uncountedReplies + (other.uncountedReplies ?? 0);
  const cached = cachedReplies + (other.cachedReplies ?? 0);
  return {
    requests: one.requests + other.requests,
    inputTokens: one.inputTokens + other.inputTokens,
    cachedTokens: one.cachedTokens + other.cachedTokens,
    outputTokens: one.outputTokens + other.outputTokens,
    ...(cost !== undefined && other.cost !== undefined && { cost: cost + other.cost }),
    ...(uncounted > 0 && { uncountedReplies: uncounted }),
    ...(cached > 0 && { cachedReplies: cached }),
    milliseconds: one.milliseconds + other.milliseconds,
  };
}

/** Whether the value is a TurnUsage: whole numbers from 0 up, a cost and a time from 0 up. */
export function isTurnUsage(given: unknown): given is TurnUsage {
  const { cost = 0, uncountedReplies = 0, cachedReplies = 0, milliseconds, ...counts } = Object(given);
  const { requests, inputTokens, cachedTokens, outputTokens } = counts;
  const whole = [requests, inputTokens, cachedTokens, outputTokens, uncountedReplies, cachedReplies];
  const isCount = (value: unknown) => Number.isSafeInteger(value) && (value as number) >= 0;
  return whole.every(isCount) && [cost, milliseconds].every((value) => Number.isFinite(value) && value >= 0);
}

/** A copy of the fields that are known. */
export function copyTurnUsage(usage: TurnUsage): TurnUsage {
  const { requests, inputTokens, cachedTokens, outputTokens, milliseconds } = usage;
  const { cost, uncountedReplies, cachedReplies } = usage;
  return {
    ...{ requests, inputTokens, cachedTokens, outputTokens },
    ...(cost !== undefined && { cost }),
    ...(uncountedReplies !== undefined && { uncountedReplies }),
    ...(cachedReplies !== undefined && { cachedReplies }),
    milliseconds,
  };
}
