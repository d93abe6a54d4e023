/** Attention within a padded batch of rows or trees, for layers with and without a window. */
import type { Ops } from '../runtime/ops.ts';
import type { Context } from './context.ts';
import { architectureOf } from './known-architectures.ts';
import { headWidth, type ModelConfig } from './model-config.ts';

/**
 * A position attends to itself and its ancestors, which come before it. Queries attend to the keys up to the end of their quarter of the
 * row, which skips three eighths of the scores. Inputs, all float32: places [T], which are 0 … T−1, and ends [B, T], the place after
 * the last descendant of each position; if layers have windows, depths [B, T], the number of ancestors.
 * @param kind `blocks` is the number of equal blocks of queries: 1, or a multiple of 4. Only one block's scores are in memory at a time.
 * Without `branches`, a position attends to all before it, and padding, which comes last, may attend to anything.
 */
export function batchAttention<T>(
  ops: Ops<T>,
  config: ModelConfig,
  { blocks, branches }: { blocks: number; branches: boolean },
): Context<T>['attend'] {
  const { layer: kindOf, window } = architectureOf(config);
  const scale = 1 / Math.sqrt(headWidth(config));
  const cuts = new Cuts(ops, blocks);
  const windows = Array.from({ length: config.num_hidden_layers }, (_, layer) => kindOf(layer).windowed);
  const [whole, windowed] = [false, true].map((has) =>
    windows.includes(has) ? blockMasks(ops, cuts, has ? window : undefined) : [],
  );
  return (layer, queries, keys, values) => {
    if (ops.causalAttention && !branches && !windows[layer])
      return ops.causalAttention(queries, keys, values, scale);
    if (ops.treeAttention && !windows[layer])
      return ops.treeAttention(queries, keys, values, ops.input('ends', 'float32', ['B', 'T']), scale);
    const masks = windows[layer] ? windowed! : whole!;
    const seen = cuts.quarters.map((quarter) => [keys, values].map((x) => cuts.upTo(quarter, x, 2)));
    const mixed = cuts.blocksOf(queries, 2).map((some, block) => {
      const [seenKeys, seenValues] = seen[cuts.quarterOf(block)] as [T, T];
      return ops.attention(some, seenKeys, seenValues, masks[block]!, scale);
    });
    return blocks === 1 ? mixed[0]! : ops.concat(mixed, 2);
  };
}

/** The masks [B, 1, S, K] of each block of S queries and the K keys that it sees: 0 where a query attends to a key, at most −1e9 elsewhere. */
export function blockMasks<T>(ops: Ops<T>, cuts: Cuts<T>, window: number | undefined): T[] {
  const places = ops.input('places', 'float32', ['T']);
  const ends = ops.input('ends', 'float32', ['B', 'T']);
  const depths = window === undefined ? undefined : ops.input('depths', 'float32', ['B', 'T']);
  const ofQueries = (x: T) => ops.reshape(x, [...ops.shapeOf(x).slice(0, -1), 1, ops.shapeOf(x).at(-1)!, 1]);
  const ofKeys = (x: T) => ops.reshape(x, [...ops.shapeOf(x).slice(0, -1), 1, 1, ops.shapeOf(x).at(-1)!]);
  const queryDepths = depths && cuts.blocksOf(depths, -1);
  return cuts.blocksOf(places, 0).map((queries, block) => {
    const seen = (x: T) => ofKeys(cuts.upTo(cuts.quarterOf(block), x, -1));
    const own = ofQueries(queries);
    const later = ops.relu(ops.sub(seen(places), own));
    const elsewhere = ops.relu(ops.sub(ops.add(own, ops.scalar(1)), seen(ends)));
    const forbidden = [later, elsewhere];
    if (depths) {
      const distance = ops.sub(ofQueries(queryDepths![block]!), seen(depths));
      forbidden.push(ops.relu(ops.sub(distance, ops.scalar(window! - 1))));
    }
    return ops.mul(
      forbidden.reduce((sum, some) => ops.add(sum, some)),
      ops.scalar(-1e9),
    );
  });
}

/** Cuts tensors into blocks of queries, and into the keys that the queries of a part see, such as a quarter. */
export class Cuts<T> {
  readonly #ops: Ops<T>;
  readonly #blocks: number;
  readonly quarters: readonly number[];

  constructor(ops: Ops<T>, blocks: number, parts: number = Math.min(4, blocks)) {
    this.#ops = ops;
    this.#blocks = blocks;
    this.quarters = [...Array(parts).keys()];
  }

  quarterOf(block: number): number {
    return Math.floor((block * this.quarters.length) / this.#blocks);
  }

  blocksOf(x: T, axis: number): T[] {
    return this.#cut(x, axis, this.#blocks);
  }

  upTo(quarter: number, x: T, axis: number): T {
    const count = this.quarters.length;
    return quarter === count - 1
      ? x
      : this.#ops.concat(this.#cut(x, axis, count).slice(0, quarter + 1), axis);
  }

  #cut(x: T, axis: number, count: number): T[] {
    return count === 1 ? [x] : this.#ops.split(x, axis, count);
  }
}
