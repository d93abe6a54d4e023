/** The context of a padded batch of rows or trees, for training. */
import type { Dim, Ops } from '../runtime/ops.ts';
import { dividedDim } from '../runtime/shape.ts';
import { architectureOf } from './architecture.ts';
import { batchAttention, blockMasks, Cuts } from './batch-attention.ts';
import type { Context, Recall } from './context.ts';
import { inverseOfUnit, levelInputs, longestChunk } from './delta-rule.ts';
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
  return {
    attend: batchAttention(ops, config, shape),
    convolve(_layer, x, taps) {
      const parents = ops.input('parents', 'int32', ['N']);
      const before = ops.mul(taps[0]!, ops.scalar(0));
      let shifted = x;
      return taps.slice(1).reduce(
        (sum, tap) => {
          shifted = ops.gatherRows(ops.concat([before, shifted], 0), parents);
          return ops.add(sum, ops.mul(shifted, tap));
        },
        ops.mul(x, taps[0]!),
      );
    },
    recall: (_layer, given) => recallIn!(given),
  };
}

/**
 * The delta rule in trees. No state passes from chunk to chunk, because the next chunk may follow another branch: a chunk reads what each
 * position before it has written. That is as much work as attention is.
 */
function chunkedRecall<T>(ops: Ops<T>, chunks: number): (given: Recall<T>) => T {
  const cuts = new Cuts(ops, chunks, chunks);
  const masks = blockMasks(ops, cuts, undefined);
  const levels = levelInputs(ops, chunks === 1 ? 'T' : dividedDim('T', chunks), longestChunk);
  /** Along the axis of positions. */
  const joined = (parts: readonly T[]) => (parts.length === 1 ? parts[0]! : ops.concat([...parts], 2));
  return ({ queries, keys, values, rates, decays }) => {
    const heads = ops.shapeOf(queries)[1]!;
    const byTime = (x: T) => ops.reshape(x, ['B', 'T', heads]);
    const weights = ops.reshape(ops.transpose(byTime(rates), [0, 2, 1]), ['B', heads, 'T', 1]);
    const [asking, asked, given, weighing] = [queries, keys, values, weights].map((x) =>
      cuts.blocksOf(x, 2),
    ) as [T[], T[], T[], T[]];
    /** Of each chunk so far: the sums of the decays along the path to each position [B, H, C], and what positions have written [B, H, C, V]. */
    const [sums, written]: [T[], T[]] = [[], []];
    const asRow = (x: T) => {
      const [batch, , length] = ops.shapeOf(x) as [Dim, Dim, Dim];
      return ops.reshape(x, [batch, heads, 1, length]);
    };
    const outputs = masks.map((mask, chunk) => {
      const [batch, , length, seen] = ops.shapeOf(mask) as [Dim, Dim, Dim, Dim];
      const path = ops.reshape(ops.exp(mask), [batch, length, seen]);
      const sum = ops.transpose(ops.matmul(path, cuts.upTo(chunk, byTime(decays), 1)), [0, 2, 1]);
      const before = asRow(joined(sums.length > 0 ? sums : [sum]));
      sums.push(sum);
      const passed = ops.sub(ops.reshape(sum, [batch, heads, length, 1]), asRow(joined(sums)));
      const kept = ops.exp(ops.add(passed, mask));
      const seenKeys = cuts.upTo(chunk, keys, 2);
      const products = (x: T) => ops.mul(ops.matmul(x, seenKeys, { transposeB: true }), kept);
      const weigh = (x: T) => ops.mul(x, weighing[chunk]!);
      const overwritten = weigh(products(asked[chunk]!));
      const wanted = weigh(given[chunk]!);
      if (chunk === 0) written.push(ops.matmul(inverseOfUnit(ops, overwritten, levels), wanted));
      else {
        const [earlier, own] = ops.split(overwritten, -1, [before, asRow(sum)]) as [T, T];
        const missing = ops.sub(wanted, ops.matmul(earlier, joined(written)));
        written.push(ops.matmul(inverseOfUnit(ops, own, levels), missing));
      }
      return ops.matmul(products(asking[chunk]!), joined(written));
    });
    return joined(outputs);
  };
}
