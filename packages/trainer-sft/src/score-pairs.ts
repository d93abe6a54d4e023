/** scorePairs: the loss and the rewards of held-out pairs. */
import type { Learner } from '@toolenv/core/learner';
import type { Metrics } from '@toolenv/core/plugins';
import type { DpoOptions } from './dpo-options.ts';
import { type Pair, pairsLoss, rowsOf } from './learn-pairs.ts';

/** Pairs of a forward pass. */
const pairsAtOnce = 32;

export async function scorePairs(
  learner: Pick<Learner, 'forward'>,
  reference: Pick<Learner, 'forward'>,
  pairs: readonly Pair[],
  options: DpoOptions,
  signal?: AbortSignal,
): Promise<Metrics> {
  const totals: Metrics = {};
  for (let start = 0; start < pairs.length; start += pairsAtOnce) {
    signal?.throwIfAborted();
    const part = pairs.slice(start, start + pairsAtOnce);
    const rows = rowsOf(part);
    const { logprobs } = await learner.forward({ rows });
    const before = (await reference.forward({ rows })).logprobs;
    const { value, metrics } = pairsLoss(part, logprobs, before, options);
    for (const [name, mean] of Object.entries({ loss: value, ...metrics }))
      totals[name] = (totals[name] ?? 0) + (mean * part.length) / pairs.length;
  }
  return totals;
}
