/** scoreRows: how well a model predicts held-out rows. */
import type { Learner, TokenRow } from '@toolenv/core/learner';
import type { Metrics } from '@toolenv/core/plugins';
import { countTokens } from '@toolenv/training';
import { supervisedMetrics } from './supervised-loss.ts';

/** Rows of a forward pass, so that the outputs of a large file are not in memory at once. */
const rowsAtOnce = 64;

/** The mean over all tokens to learn, in nats. */
export async function scoreRows(
  learner: Pick<Learner, 'forward'>,
  rows: readonly TokenRow[],
  signal?: AbortSignal,
): Promise<Metrics> {
  const totals: Metrics = {};
  let tokens = 0;
  for (let start = 0; start < rows.length; start += rowsAtOnce) {
    signal?.throwIfAborted();
    const part = rows.slice(start, start + rowsAtOnce);
    const count = countTokens(part.map(({ mask }) => mask));
    const metrics = supervisedMetrics(part, await learner.forward({ rows: part }));
    for (const [name, mean] of Object.entries(metrics)) totals[name] = (totals[name] ?? 0) + mean * count;
    tokens += count;
  }
  return Object.fromEntries(Object.entries(totals).map(([name, total]) => [name, total / tokens]));
}
