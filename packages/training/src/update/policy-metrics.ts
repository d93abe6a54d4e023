/** What every policy-gradient trainer reports of its updates: entropy, importance ratios, and the distance to sampler and start. */
import type { BackwardOutputs, Learner, Rows, TokenRow, TokenValues } from '@toolenv/core/learner';
import type { Metrics } from '@toolenv/core/plugins';
import { atMask, meanOverTokens } from '../rows/averages.ts';
import { differenceStatistics, tokenStatistics } from '../rows/token-statistics.ts';
import { klEstimate } from './losses/kl-penalty.ts';

/** Arrays are [B][T]. Values at mask 0 are ignored. */
export interface PolicyStep {
  /** Log-probabilities of the policy when the gradient was computed. */
  logprobs: Rows;
  /** Of the policy before the first optimizer step on this rollout. */
  oldLogprobs: Rows;
  mask: readonly Uint8Array[];
  /** Of the policy when the gradient was computed, if a forward pass gave it. */
  entropy?: Rows;
  /** What the backward pass returned, which stands in for `entropy`. */
  outputs?: BackwardOutputs;
}

/** Of one optimizer step. There is no entropy if neither pass gave it. */
export function policyMetrics({ logprobs, oldLogprobs, mask, entropy, outputs }: PolicyStep): Metrics {
  const ratios = atMask(mask, (b, t) => Math.exp(logprobs[b]![t]! - oldLogprobs[b]![t]!));
  const seen = entropy ?? outputs?.entropy;
  return { ...tokenStatistics('ratio', ratios, mask), ...(seen && { entropy: meanOverTokens(seen, mask) }) };
}

/**
 * How far the sampler is from the learner before the update: rounding, another engine, or stale weights.
 * @param logprobs [B][T] from the learner, before any step on this rollout.
 * @param sampledLogprobs [B][T] from the sampler.
 */
export function samplerMetrics(
  logprobs: TokenValues,
  sampledLogprobs: TokenValues,
  mask: readonly Uint8Array[],
): Metrics {
  const distances = atMask(mask, (b, t) => Math.abs(logprobs[b]![t]! - sampledLogprobs[b]![t]!));
  return {
    ...differenceStatistics(distances, mask),
    'rollout_corr/k3_kl': meanKl(sampledLogprobs, logprobs, mask),
  };
}

/** Every fourth row is enough for a mean. */
const sampled = 4;

/**
 * The mean KL of a token from the initial policy, in nats, over every fourth row.
 * @param logprobs [B][T] of the policy.
 */
export async function klToReference(
  start: Pick<Learner, 'forward'>,
  rows: readonly TokenRow[],
  logprobs: TokenValues,
  temperature: number,
): Promise<number> {
  const chosen = [...rows.keys()].filter((b) => b % sampled === 0);
  const some = chosen.map((b) => rows[b]!);
  const { logprobs: before } = await start.forward({ rows: some, temperature });
  return meanKl(
    chosen.map((b) => logprobs[b]!),
    before,
    some.map(({ mask }) => mask),
  );
}

/** The k3 estimate of KL(policy ‖ other), mean over the tokens with mask 1. */
function meanKl(policy: TokenValues, other: TokenValues, mask: readonly Uint8Array[]): number {
  const estimates = atMask(mask, (b, t) => klEstimate(policy[b]![t]!, other[b]![t]!, 'k3').value);
  return meanOverTokens(estimates, mask);
}
