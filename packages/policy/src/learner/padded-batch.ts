/** Packs the prefix trees of ragged rows into padded batches within a token budget, and maps per-token results back to the rows. */
import type { Rows, TokenBatch, TokenRow } from '@toolenv/core/learner';
import { levelsOf, longestChunk } from '../model/delta-rule.ts';
import { type Tensors, tensor } from '../runtime/runtime.ts';
import { endsOf, foldRows, hasBranches, type PrefixTree, type Slot, type TreeLimits } from './prefix-tree.ts';

/** Trees that run together, padded on the right to the length of the longest. */
export interface PaddedBatch {
  /**
   * tokens and positions [B, T], the inputs of {@link batchContext}, and for the predictions: where [M] (index into B·T of the position
   * that predicts the token) and targets [M]. M is padded with zeros to a multiple of `parts`.
   */
  inputs: Tensors;
  /** [M] where the rows have each predicted token. */
  slots: Slot[][];
  /** The number of equal parts in which the logits of the predictions are computed: a power of two. */
  parts: number;
  /** The number of equal blocks of queries in which attention is computed: a power of two. T is a multiple of it. */
  blocks: number;
  /** Whether a tree has branches. Several tokens may then be predicted from one position. */
  branches: boolean;
  /** The number of equal chunks in which delta nets are computed: a power of two, of which T is a multiple. 1 for other models. */
  chunks: number;
}

/** The largest number of logits in a part: 64 MiB. */
export const maxLogits: number = 2 ** 24;
/** The largest number of a row's queries in a block of attention, whose memory then grows with the length and not with its square. */
export const maxQueries = 256;

/** Blocks of queries: at least four, because four skip three eighths of the work, or as few as possible where each operation is costly. */
function attentionBlocks(length: number, fewBlocks: boolean): number {
  const needed = 2 ** Math.ceil(Math.log2(length / (fewBlocks ? 4 * maxQueries : maxQueries)));
  return Math.max(fewBlocks ? 1 : 4, needed);
}

/** Chunks of at most {@link longestChunk} positions. */
function recurrentChunks(length: number): number {
  return 2 ** Math.ceil(Math.log2(Math.max(1, length / longestChunk)));
}

export interface BatchBudget {
  /** Padded tokens of a batch at most. */
  tokenBudget: number;
  /**
   * The fixed cost of a batch as a number of tokens: its gradients are added to those of the others. Default 128, as measured on CPUs.
   */
  tokensPerBatch?: number;
}

/**
 * Folds rows into trees, and splits these into batches of at most `tokenBudget` padded tokens; a longer row has a batch of its own.
 * Trees of similar length run together to keep padding small. Rows without action tokens are left out.
 */
export function padRows(
  rows: readonly TokenRow[],
  {
    vocabulary,
    longestTree = Number.POSITIVE_INFINITY,
    attentionLength,
    fewBlocks = false,
    recurrent = false,
    ...budget
  }: BatchBudget &
    Pick<TreeLimits, 'attentionLength'> & {
      vocabulary: number;
      longestTree?: number;
      fewBlocks?: boolean;
      /** Whether layers keep states, and need the inputs for them. Default: false. */
      recurrent?: boolean;
    },
): PaddedBatch[] {
  const trees = foldRows(rows, { mostTokens: Math.min(budget.tokenBudget, longestTree), attentionLength });
  trees.sort((a, b) => b.tokens.length - a.tokens.length);
  const lengths = trees.map(({ tokens }) => {
    const { blocks, chunks } = cutsOf(tokens.length);
    const unit = Math.max(blocks, chunks);
    return Math.ceil(tokens.length / unit) * unit;
  });
  function cutsOf(length: number) {
    const blocks = attentionBlocks(length, fewBlocks);
    return { blocks, chunks: recurrent ? recurrentChunks(length) : 1 };
  }
  let start = 0;
  return divideRows(lengths, budget).map((count) => {
    const chosen = trees.slice(start, start + count);
    const time = lengths[start]!;
    start += count;
    return padBatch(chosen, { time, ...cutsOf(time), vocabulary, recurrent });
  });
}

/**
 * How many rows each batch has, so that all batches together take least time: few batches, and little padding. Equal rows are
 * divided evenly.
 * @param lengths Padded lengths, the longest first.
 */
export function divideRows(
  lengths: readonly number[],
  { tokenBudget, tokensPerBatch = 128 }: BatchBudget,
): number[] {
  /** By first row: the best division of the rows from there on. */
  const best: Division[] = [];
  best[lengths.length] = { tokens: 0, squares: 0, count: 0 };
  for (let start = lengths.length - 1; start >= 0; start--) {
    const length = lengths[start]!;
    const most = Math.min(lengths.length - start, Math.max(1, Math.floor(tokenBudget / length)));
    const divisions = Array.from({ length: most }, (_, index) => {
      const count = index + 1;
      const rest = best[start + count]!;
      const tokens = rest.tokens + tokensPerBatch + count * length;
      return { tokens, squares: rest.squares + (count * length) ** 2, count };
    });
    best[start] = divisions.reduce((one, other) => (isBetter(other, one) ? other : one));
  }
  const counts: number[] = [];
  for (let start = 0; start < lengths.length; start += counts.at(-1)!) counts.push(best[start]!.count);
  return counts;
}

interface Division {
  /** Padded tokens, and those that batches cost. */
  tokens: number;
  /** Σ (padded tokens of a batch)², least where batches are equal. */
  squares: number;
  /** Rows of the first batch. */
  count: number;
}

function isBetter(one: Division, other: Division): boolean {
  return one.tokens < other.tokens || (one.tokens === other.tokens && one.squares < other.squares);
}

function padBatch(
  trees: readonly PrefixTree[],
  {
    time,
    blocks,
    chunks,
    vocabulary,
    recurrent,
  }: { time: number; blocks: number; chunks: number; vocabulary: number; recurrent: boolean },
): PaddedBatch {
  const dims = [trees.length, time];
  const tokens = new Int32Array(trees.length * time);
  const positions = new Int32Array(trees.length * time);
  // Padding attends to itself.
  const ends = Float32Array.from(positions, (_, index) => (index % time) + 1);
  for (const [b, tree] of trees.entries()) {
    tokens.set(tree.tokens, b * time);
    positions.set(tree.positions, b * time);
    ends.set(endsOf(tree), b * time);
  }
  const predictions = trees.flatMap((tree, b) =>
    tree.predictions.map(({ at, target, slots }) => ({ where: b * time + at, target, slots })),
  );
  const parts = 2 ** Math.ceil(Math.log2(Math.max(1, (predictions.length * vocabulary) / maxLogits)));
  const filled = Math.ceil(predictions.length / parts) * parts;
  const ofPredictions = (field: 'where' | 'target') =>
    tensor(
      Int32Array.from({ length: filled }, (_, m) => predictions[m]?.[field] ?? 0),
      [filled],
    );
  const inputs = {
    tokens: tensor(tokens, dims),
    positions: tensor(positions, dims),
    depths: tensor(Float32Array.from(positions), dims),
    places: tensor(
      Float32Array.from({ length: time }, (_, place) => place),
      [time],
    ),
    ends: tensor(ends, dims),
    where: ofPredictions('where'),
    targets: ofPredictions('target'),
    ...(recurrent && {
      parents: tensor(parentsOf(trees, time), [trees.length * time]),
      levels: levelsOf(time / chunks, longestChunk),
    }),
  };
  return {
    inputs,
    slots: predictions.map(({ slots }) => slots),
    parts,
    blocks,
    branches: trees.some(hasBranches),
    chunks,
  };
}

/** [B · T]: the place of each position's predecessor plus 1, or 0 for the first of a tree and for padding. */
function parentsOf(trees: readonly PrefixTree[], time: number): Int32Array {
  const parents = new Int32Array(trees.length * time);
  for (const [b, tree] of trees.entries())
    for (const [node, parent] of tree.parents.entries())
      parents[b * time + node] = parent < 0 ? 0 : b * time + parent + 1;
  return parents;
}

/** The sums of per-token `values` over the places of each prediction: [M], with 0 as padding. */
export function gatherSlots(values: Rows, { slots, inputs }: PaddedBatch): Float32Array {
  const gathered = new Float32Array(inputs.where!.data.length);
  for (const [m, places] of slots.entries())
    gathered[m] = places.reduce((sum, { row, position }) => sum + values[row]![position]!, 0);
  return gathered;
}

/** Writes a batch's results [M] to their rows and positions. */
export function scatterSlots(results: ArrayLike<number>, slots: PaddedBatch['slots'], into: Rows): void {
  for (const [m, places] of slots.entries())
    for (const { row, position } of places) into[row]![position] = results[m]!;
}

/** The gradients with respect to the outputs at a padded batch's action tokens: [M] each. */
export function cotangents(given: Record<string, Rows | undefined>, padded: PaddedBatch): Tensors {
  const gathered = Object.entries(given).map(([name, rows]) => {
    const values = gatherSlots(rows!, padded);
    return [name, tensor(values, [values.length])];
  });
  return Object.fromEntries(gathered);
}

export function zerosLike({ rows }: TokenBatch): Rows {
  return rows.map(({ tokens }) => new Float32Array(tokens.length));
}
