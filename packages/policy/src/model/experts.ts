/** Mixtures of experts (arXiv 1701.06538): each token goes through the few MLPs that a router chooses for it. */
import type { Ops } from '../runtime/ops.ts';
import type { Experts } from './architecture.ts';
import { architectureOf } from './known-architectures.ts';
import type { ModelConfig } from './model-config.ts';

/** The width of the MLP that a token goes through, or of its experts together where they are wider. */
export function usedWidth(config: ModelConfig): number {
  const { experts } = architectureOf(config);
  return experts
    ? Math.max(config.intermediate_size, experts.chosen * experts.width)
    : config.intermediate_size;
}

/** The parameters that a token uses, as if it went through the first experts. */
export function isUsed(config: ModelConfig, name: string): boolean {
  const { experts } = architectureOf(config);
  const [, expert] = /\.experts\.(\d+)\./.exec(name) ?? [];
  return !experts || expert === undefined || Number(expert) < experts.chosen;
}

/**
 * The shares of the experts times what they make of `x` [N, width], summed → [N, width]. A token's experts are those with the largest logits.
 * Where a runtime finds the tokens of an expert, an expert computes these alone, and otherwise all.
 * @param logits The router's, [N, experts].
 * @param expert What an expert makes of some of the rows.
 */
export function mixture<T>(
  ops: Ops<T>,
  { count, chosen, normalised }: Experts,
  x: T,
  logits: T,
  expert: (x: T, index: number) => T,
): T {
  const kept = ops.keepLargest(ops.softmax(logits), chosen);
  const shares = normalised ? ops.div(kept, ops.sum(kept, [-1])) : kept;
  const columns = ops.split(shares, 1, count);
  if (!ops.nonZeroRows)
    return columns
      .map((share, index) => ops.mul(expert(x, index), share))
      .reduce((sum, part) => ops.add(sum, part));
  const nothing = ops.mul(x, ops.scalar(0));
  const rows = ops.nonZeroRows(shares);
  const parts = rows.map((ids, index) => {
    const own = (all: T) => ops.gatherRows(all, ids, { distinct: true });
    return ops.mul(expert(own(x), index), own(columns[index]!));
  });
  return ops.addRows(nothing, rows, parts);
}
