/** Attention within a padded batch of rows or trees, for layers with and without a window. */
import type { Ops } from '../runtime/ops.ts';
import type { Context } from './context.ts';
import { architectureOf } from './known-architectures.ts';
import { headWidth, type ModelConfig } from './model-config.ts';

/**
 * A position attends to itself and its ancestors, which come before it. Queries attend to the keys up to the end of their block, which
 * skips nearly half of the scores of a long row. Inputs, all float32: places [T], which are 0 … T−1, and ends [B, T], the place after
 * the last descendant of each position; if layers have windows, depths [B, T], the number of ancestors.
 * @param kind `blocks` is the number of equal blocks of queries: a power of two. Only one block's scores are in memory at a time.
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
    const [seenKeys, seenValues] = [keys, values].map((x) => cuts.prefixesOf(x, 2)) as [T[], T[]];
    const mixed = cuts.blocksOf(queries, 2).map((some, block) => {
      return ops.attention(some, seenKeys[block]!, seenValues[block]!, masks[block]!, scale);
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
  const [seenPlaces, seenEnds, seenDepths] = [places, ends, depths].map(
    (x) => x && cuts.prefixesOf(x, -1).map(ofKeys),
  ) as [T[], T[], T[] | undefined];
  const queryDepths = depths && cuts.blocksOf(depths, -1).map(ofQueries);
  return cuts.blocksOf(places, 0).map((queries, block) => {
    const own = ofQueries(queries);
    const later = ops.relu(ops.sub(seenPlaces[block]!, own));
    const elsewhere = ops.relu(ops.sub(ops.add(own, ops.scalar(1)), seenEnds[block]!));
    const forbidden = [later, elsewhere];
    if (depths) {
      const distance = ops.sub(queryDepths![block]!, seenDepths![block]!);
      forbidden.push(ops.relu(ops.sub(distance, ops.scalar(window! - 1))));
    }
    return ops.mul(
      forbidden.reduce((sum, some) => ops.add(sum, some)),
      ops.scalar(-1e9),
    );
  });
}

/** Cuts tensors into blocks of positions, and into the positions that a block sees. */
export class Cuts<T> {
  readonly #ops: Ops<T>;
  readonly #blocks: number;

  constructor(ops: Ops<T>, blocks: number) {
    this.#ops = ops;
    this.#blocks = blocks;
  }

  blocksOf(x: T, axis: number): T[] {
    return this.#blocks === 1 ? [x] : this.#ops.split(x, axis, this.#blocks);
  }

  /** For each block, the positions up to its end. */
  prefixesOf(x: T, axis: number): T[] {
    const blocks = this.blocksOf(x, axis);
    return blocks.map((block, index) => {
      if (index === blocks.length - 1) return x;
      return index === 0 ? block : this.#ops.concat(blocks.slice(0, index + 1), axis);
    });
  }
}
