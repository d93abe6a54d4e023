/** The context of a padded batch of rows or trees, for training. */
import type { Dim, Ops } from '../runtime/ops.ts';
import { dividedDim } from '../runtime/shape.ts';
import { batchAttention, blockMasks, Cuts } from './batch-attention.ts';
import type { Context, Recall } from './context.ts';
import { inverseOfUnit, levelInputs, longestChunk } from './delta-rule.ts';
import { architectureOf } from './known-architectures.ts';
import type { ModelConfig } from './model-config.ts';

/** What a program needs to know of a batch when it is compiled. */
export interface BatchShape {
  /** The number of equal blocks of queries in which attention is computed: a power of two. T is a multiple of it. */
  blocks: number;
  /** Whether a tree has branches. */
  branches: boolean;
  /** The number of equal chunks of at most {@link longestChunk} positions in which delta nets are computed: a power of two. */
  chunks: number;
}

/**
 * Inputs beside those of {@link batchAttention}: for convolutions int32 parents [N], the place of each position's predecessor in B·T plus 1,
 * or 0 if it has none; for delta nets `levels` of their chunks.
 */
export function batchContext<T>(ops: Ops<T>, config: ModelConfig, shape: BatchShape): Context<T> {
  const recallIn = architectureOf(config).deltaNet && chunkedRecall(ops, shape.chunks);
  const convolve = (x: T, taps: readonly T[]) => {
    const parents = ops.input('parents', 'int32', ['N']);
    const before = ops.mul(taps[0]!, ops.scalar(0));
    let shifted = x;
    let sum = ops.mul(x, taps[0]!);
    for (const tap of taps.slice(1)) {
      shifted = ops.gatherRows(ops.concat([before, shifted], 0), parents);
      sum = ops.add(sum, ops.mul(shifted, tap));
    }
    return sum;
  };
  // The sum would keep x once for each tap, so it is computed again for the gradients.
  return {
    attend: batchAttention(ops, config, shape),
    convolve: (_layer, x, taps) =>
      ops.checkpoint([x, ...taps], [], ([x, ...taps]) => [convolve(x!, taps)])[0]!,
    recall: (_layer, given) => recallIn!(given),
  };
}

/**
 * The delta rule in trees. No state passes from chunk to chunk, because the next chunk may follow another branch: a chunk reads what each
 * position before it has written. That is as much work as attention is. Only what is written and read is kept for the gradients.
 */
function chunkedRecall<T>(ops: Ops<T>, chunks: number): (given: Recall<T>) => T {
  const cuts = new Cuts(ops, chunks);
  const masks = blockMasks(ops, cuts, undefined);
  const levels = levelInputs(ops, chunks === 1 ? 'T' : dividedDim('T', chunks), longestChunk);
  /** [B, C, seen]: 1 for the positions on the path to each position of a chunk. */
  const paths = masks.map((mask) => {
    const [batch, , length, seen] = ops.shapeOf(mask) as [Dim, Dim, Dim, Dim];
    return ops.reshape(ops.exp(mask), [batch, length, seen]);
  });
  /** Along the axis of positions. */
  const joined = (parts: readonly T[]) => (parts.length === 1 ? parts[0]! : ops.concat([...parts], 2));
  return ({ queries, keys, values, rates, decays }) => {
    const heads = ops.shapeOf(queries)[1]!;
    const byTime = (x: T) => ops.reshape(x, ['B', 'T', heads]);
    const weights = ops.reshape(ops.transpose(byTime(rates), [0, 2, 1]), ['B', heads, 'T', 1]);
    const [asking, asked, given, weighing] = [queries, keys, values, weights].map((x) =>
      cuts.blocksOf(x, 2),
    ) as [T[], T[], T[], T[]];
    /** The sums of the decays along the path to each position, [B, H, C] of each chunk. */
    const seenDecays = cuts.prefixesOf(byTime(decays), 1);
    const sums = paths.map((path, chunk) => ops.transpose(ops.matmul(path, seenDecays[chunk]!), [0, 2, 1]));
    const asRow = (x: T) => {
      const [batch, , length] = ops.shapeOf(x) as [Dim, Dim, Dim];
      return ops.reshape(x, [batch, heads, 1, length]);
    };
    /** What positions have written, [B, H, C, V] of each chunk so far. */
    const written: T[] = [];
    const outputs = masks.map((mask, chunk) => {
      const own = [asking, asked, given, weighing, sums].map((parts) => parts[chunk]!);
      const earlierParts = [asked, sums, written].flatMap((parts) => parts.slice(0, chunk));
      const [added, read] = ops.checkpoint(
        [...own, ...earlierParts],
        [],
        ([queries, keys, values, weights, sum, ...earlier]) => {
          const [earlierKeys, earlierSums, earlierWritten] = [0, 1, 2].map((part) =>
            earlier.slice(part * chunk, (part + 1) * chunk),
          ) as [T[], T[], T[]];
          const [batch, , length] = ops.shapeOf(mask) as [Dim, Dim, Dim];
          const to = ops.reshape(sum!, [batch, heads, length, 1]);
          const passed = ops.sub(to, asRow(joined([...earlierSums, sum!])));
          const kept = ops.exp(ops.add(passed, mask));
          const seenKeys = joined([...earlierKeys, keys!]);
          const products = (x: T) => ops.mul(ops.matmul(x, seenKeys, { transposeB: true }), kept);
          const overwritten = ops.mul(products(keys!), weights!);
          const wanted = ops.mul(values!, weights!);
          if (chunk === 0) return both(overwritten, wanted);
          const [before, within] = ops.split(overwritten, -1, [asRow(joined(earlierSums)), asRow(sum!)]) as [
            T,
            T,
          ];
          return both(within, ops.sub(wanted, ops.matmul(before, joined(earlierWritten))));

          /** What the chunk writes, and what its queries read. */
          function both(within: T, missing: T): T[] {
            const added = ops.matmul(inverseOfUnit(ops, within, levels), missing);
            return [added, ops.matmul(products(queries!), joined([...earlierWritten, added]))];
          }
        },
      ) as [T, T];
      written.push(added);
      return read;
    });
    return joined(outputs);
  };
}
