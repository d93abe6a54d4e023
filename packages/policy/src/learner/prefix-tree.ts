/**
 * Folds rows into prefix trees, so that a prefix that several rows share is computed once. The episodes of a group share at least
 * their prompt, and the rows of an episode whose history was edited share everything before the edit.
 */
import type { TokenRow } from '@toolenv/core/learner';
import { commonPrefix } from '../common-prefix.ts';
import { isUsed } from '../model/experts.ts';
import { headWidth, type ModelConfig } from '../model/model-config.ts';
import { parameterShapes } from '../model/parameter-shapes.ts';
import { getOrInsert } from '../runtime/get-or-insert.ts';
import { sizeOf } from '../runtime/shape.ts';

/** A position in one of the caller's rows. */
export interface Slot {
  row: number;
  position: number;
}

/** A token that is predicted from the node `at`, and the places where the rows have it. */
export interface Prediction {
  at: number;
  target: number;
  slots: Slot[];
}

/** Rows as a tree of tokens. Nodes are in depth-first order, so that ancestors come first; arrays are [N]. */
export interface PrefixTree {
  tokens: number[];
  /** The depth of each node: the position of its token in a row. */
  positions: number[];
  /** The node before each node, or −1. */
  parents: number[];
  predictions: Prediction[];
}

export interface TreeLimits {
  /** Nodes of a tree at most, unless it is a single row. Default: any number. */
  mostTokens?: number;
  /**
   * The length at which attention costs as much as everything else that a row needs. A tree is cut where the masked scores between its
   * branches would cost more than sharing their prefix saves. Each part then computes the prefix itself. Default: never cut.
   */
  attentionLength?: number;
}

/** The trees of all rows that have action tokens. A row that shares nothing is a tree without branches. */
export function foldRows(rows: readonly TokenRow[], limits: TreeLimits = {}): PrefixTree[] {
  const paths = [...rows.keys()]
    .filter((row) => rows[row]!.mask.includes(1))
    .map((row) => ({ row, tokens: usedTokens(rows[row]!) }))
    .sort((a, b) => compareTokens(a.tokens, b.tokens) || a.row - b.row);
  /** The number of tokens that each path shares with the one before. */
  const shared = paths.map(({ tokens }, index) =>
    index === 0 ? 0 : commonPrefix(paths[index - 1]!.tokens, tokens),
  );
  const lengths = paths.map(({ tokens }) => tokens.length);
  let start = 0;
  return divideTrees(lengths, shared, limits).map((count) => {
    const tree = new GrowingTree();
    for (let index = start; index < start + count; index++) {
      const { row, tokens } = paths[index]!;
      tree.add(row, rows[row]!, tokens, index === start ? 0 : shared[index]!);
    }
    start += count;
    return tree;
  });
}

/**
 * How many rows each tree has, so that all trees together cost least: a tree of n nodes costs n + n² / attentionLength.
 * @param lengths Of rows in the order of their tokens, in which the rows of any subtree are neighbours.
 * @param shared The number of tokens that each row shares with the row before.
 */
function divideTrees(
  lengths: readonly number[],
  shared: readonly number[],
  { mostTokens = Number.POSITIVE_INFINITY, attentionLength = Number.POSITIVE_INFINITY }: TreeLimits,
): number[] {
  /** By first row: the least cost of the rows from there on, and how many of them the first tree has. */
  const best: { cost: number; count: number }[] = [];
  best[lengths.length] = { cost: 0, count: 0 };
  for (let start = lengths.length - 1; start >= 0; start--) {
    let nodes = 0;
    let found = { cost: Number.POSITIVE_INFINITY, count: 0 };
    for (let count = 1; start + count <= lengths.length; count++) {
      const last = start + count - 1;
      nodes += lengths[last]! - (count === 1 ? 0 : shared[last]!);
      // Rows that share nothing never belong to one tree.
      if (count > 1 && (nodes > mostTokens || shared[last] === 0)) break;
      const cost = nodes + nodes ** 2 / attentionLength + best[start + count]!.cost;
      if (cost < found.cost) found = { cost, count };
    }
    best[start] = found;
  }
  const counts: number[] = [];
  for (let start = 0; start < lengths.length; start += counts.at(-1)!) counts.push(best[start]!.count);
  return counts;
}

class GrowingTree implements PrefixTree {
  readonly tokens: number[] = [];
  readonly positions: number[] = [];
  readonly parents: number[] = [];
  readonly predictions: Prediction[] = [];
  /** The nodes of the last row. */
  readonly #path: number[] = [];
  /** Predictions by node, then by target. */
  readonly #known: Map<number, Map<number, Prediction>> = new Map();

  /** Adds a row that shares its first `shared` tokens with the row before, and no more. */
  add(row: number, { tokens: all, mask }: TokenRow, tokens: Int32Array, shared: number): void {
    this.#path.length = shared;
    for (let position = shared; position < tokens.length; position++) {
      this.parents.push(this.#path.at(-1) ?? -1);
      this.#path.push(this.tokens.length);
      this.tokens.push(tokens[position]!);
      this.positions.push(position);
    }
    for (let position = 1; position <= tokens.length && position < all.length; position++)
      if (mask[position] === 1) this.#predict(this.#path[position - 1]!, all[position]!, { row, position });
  }

  #predict(at: number, target: number, slot: Slot): void {
    const ofNode = getOrInsert(this.#known, at, () => new Map<number, Prediction>());
    const prediction = getOrInsert(ofNode, target, () => {
      const added = { at, target, slots: [] };
      this.predictions.push(added);
      return added;
    });
    prediction.slots.push(slot);
  }
}

/** The tokens to compute. The last action token is only predicted, and tokens after it have no effect. */
function usedTokens({ tokens, mask }: TokenRow): Int32Array {
  return tokens.subarray(0, Math.max(1, mask.lastIndexOf(1))) as Int32Array;
}

/** Dictionary order: a prefix comes before its continuations. */
function compareTokens(a: Int32Array, b: Int32Array): number {
  const shared = commonPrefix(a, b);
  return (a[shared] ?? -1) - (b[shared] ?? -1);
}

/** Whether a node of the tree does not follow the node before it. */
export function hasBranches({ parents }: PrefixTree): boolean {
  return parents.some((parent, node) => parent !== node - 1);
}

/** The node after the last descendant of each node. */
export function endsOf({ parents }: PrefixTree): number[] {
  const ends = parents.map((_, node) => node + 1);
  for (let node = parents.length - 1; node > 0; node--) {
    const parent = parents[node]!;
    if (parent >= 0) ends[parent] = Math.max(ends[parent]!, ends[node]!);
  }
  return ends;
}

/**
 * The length at which a row's attention takes as long as the rest of its layers: 1,200 tokens for the tiny policy, 4,600 for the shape
 * of Qwen2.5-0.5B. A token takes two operations for each weight of a layer, and four for each number of its queries and each token that
 * it is compared with. That is five eighths of the row's tokens. On CPUs, times follow these counts.
 */
export function attentionLength(config: ModelConfig): number {
  const ofLayer = [...parameterShapes(config)].filter(
    ([name]) => name.startsWith('model.layers.0.') && isUsed(config, name),
  );
  const weights = ofLayer.reduce((sum, [, shape]) => sum + sizeOf(shape), 0);
  return (2 * weights) / (4 * config.num_attention_heads * headWidth(config) * (5 / 8));
}
