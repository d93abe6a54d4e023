/** Packs ragged rows into padded batches within a token budget, and maps per-token results back to the rows. */
import type { Rows, TokenRow } from '@toolenv/core/learner';
import { batchMasks } from '../model/batch-attention.ts';
import { attentionBlocks } from '../model/decoder.ts';
import { type Tensors, tensor } from '../runtime/runtime.ts';

/** Rows that run together, padded on the right to the length of the longest. */
export interface PaddedBatch {
  /**
   * tokens [B, T], positions [B, T], masks [T, T], and for the action tokens: where [M] (index into B·T of the
   * position that predicts the token) and targets [M]. M is padded with zeros to a multiple of `parts`.
   */
  inputs: Tensors;
  /** The row of each action token in the caller's batch, and its position in that row. */
  slots: { row: number; position: number }[];
  /** The number of equal parts in which the logits of the action tokens are computed: a power of two. */
  parts: number;
}

/** The largest number of logits in a part: 64 MiB. */
const mostLogits = 2 ** 24;

export interface BatchBudget {
  /** Padded tokens of a batch at most. */
  tokenBudget: number;
  /**
   * What a batch takes beside its tokens, as a number of tokens: its gradients are added to those of the others. Default 128, as
   * measured on CPUs.
   */
  tokensPerBatch?: number;
}

/**
 * Splits rows into batches of at most `tokenBudget` padded tokens; a longer row has a batch of its own. Rows of
 * similar length run together to keep padding small. Rows without action tokens are left out.
 */
export function padRows(
  rows: readonly TokenRow[],
  { vocabulary, window, ...budget }: BatchBudget & { vocabulary: number; window?: number },
): PaddedBatch[] {
  const order = [...rows.keys()]
    .filter((row) => rows[row]!.mask.includes(1))
    .sort((a, b) => usedLength(rows[b]!) - usedLength(rows[a]!) || a - b);
  const lengths = order.map((row) => Math.ceil(usedLength(rows[row]!) / attentionBlocks) * attentionBlocks);
  let start = 0;
  return divideRows(lengths, budget).map((count) => {
    const chosen = order.slice(start, start + count);
    const time = lengths[start]!;
    start += count;
    return padBatch(rows, chosen, time, { vocabulary, window });
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

/** The number of tokens to compute. The last action token is only predicted, and tokens after it have no effect. */
function usedLength({ mask }: TokenRow): number {
  return Math.max(1, mask.lastIndexOf(1));
}

function padBatch(
  rows: readonly TokenRow[],
  chosen: readonly number[],
  time: number,
  { vocabulary, window }: { vocabulary: number; window: number | undefined },
): PaddedBatch {
  const tokens = new Int32Array(chosen.length * time);
  const positions = tokens.map((_, index) => index % time);
  const where: number[] = [];
  const targets: number[] = [];
  const slots: PaddedBatch['slots'] = [];
  for (const [b, row] of chosen.entries()) {
    const { tokens: ids, mask } = rows[row]!;
    tokens.set(ids.subarray(0, Math.min(time, ids.length)), b * time);
    for (let position = 1; position <= time && position < ids.length; position++) {
      if (mask[position] !== 1) continue;
      // The position before a token predicts it.
      where.push(b * time + position - 1);
      targets.push(ids[position]!);
      slots.push({ row, position });
    }
  }
  const parts = 2 ** Math.ceil(Math.log2(Math.max(1, (slots.length * vocabulary) / mostLogits)));
  const filled = Math.ceil(slots.length / parts) * parts;
  const ofActions = (ids: number[]) => Int32Array.from({ length: filled }, (_, m) => ids[m] ?? 0);
  const dims = [chosen.length, time];
  const inputs = {
    tokens: tensor(tokens, dims),
    positions: tensor(positions, dims),
    ...batchMasks(time, window),
    where: tensor(ofActions(where), [filled]),
    targets: tensor(ofActions(targets), [filled]),
  };
  return { inputs, slots, parts };
}

/** The per-token `values` of a batch's action tokens: [M], with 0 as padding. */
export function gatherSlots(values: Rows, { slots, inputs }: PaddedBatch): Float32Array {
  const gathered = new Float32Array(inputs.where!.data.length);
  for (const [m, { row, position }] of slots.entries()) gathered[m] = values[row]![position]!;
  return gathered;
}

/** Writes a batch's per-token results [M] to their rows and positions. */
export function scatterSlots(results: ArrayLike<number>, slots: PaddedBatch['slots'], into: Rows): void {
  for (const [index, { row, position }] of slots.entries()) into[row]![position] = results[index]!;
}
