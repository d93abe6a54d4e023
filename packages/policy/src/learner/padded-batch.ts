/** Ragged rows as padded batches within a token budget, and their per-token results back again. */
import type { Rows, TokenRow } from '@toolenv/core/learner';
import { causalMask } from '../model/causal-mask.ts';
import { attentionBlocks } from '../model/decoder.ts';
import { type Tensors, tensor } from '../runtime/runtime.ts';

/** Rows that run together, padded on the right to the longest. */
export interface PaddedBatch {
  /**
   * tokens [B, T], positions [B, T], mask [T, T], and for the action tokens: where [M], targets [M]. M is filled up with zeros
   * to a multiple of `parts`.
   */
  inputs: Tensors;
  /** For each of the action tokens, its row in the caller's batch and its position there. */
  slots: { row: number; position: number }[];
  /** So many equal parts of the action tokens have few enough logits each: a power of two. */
  parts: number;
}

/** Logits computed at a time, 64 MiB of them. */
const mostLogits = 2 ** 24;

/**
 * Splits rows into batches of at most `tokenBudget` padded tokens (a longer row goes alone), longest rows together so
 * that little is padding. Rows without action tokens are left out.
 */
export function padRows(
  rows: readonly TokenRow[],
  { tokenBudget, vocabulary }: { tokenBudget: number; vocabulary: number },
): PaddedBatch[] {
  const order = [...rows.keys()]
    .filter((row) => rows[row]!.mask.includes(1))
    .sort((a, b) => usedLength(rows[b]!) - usedLength(rows[a]!) || a - b);
  const batches: PaddedBatch[] = [];
  for (let start = 0; start < order.length; ) {
    const time = Math.ceil(usedLength(rows[order[start]!]!) / attentionBlocks) * attentionBlocks;
    const most = Math.max(1, Math.floor(tokenBudget / time));
    // Sixteen rows where ten fit are two batches of eight.
    const left = order.length - start;
    const count = Math.ceil(left / Math.ceil(left / most));
    batches.push(padBatch(rows, order.slice(start, start + count), time, vocabulary));
    start += count;
  }
  return batches;
}

/** Tokens after the last action token influence nothing. The last action token itself is only predicted. */
function usedLength({ mask }: TokenRow): number {
  return Math.max(1, mask.lastIndexOf(1));
}

function padBatch(
  rows: readonly TokenRow[],
  chosen: readonly number[],
  time: number,
  vocabulary: number,
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
      // Token `position` is drawn from the distribution computed at the position before it.
      where.push(b * time + position - 1);
      targets.push(ids[position]!);
      slots.push({ row, position });
    }
  }
  const parts = 2 ** Math.ceil(Math.log2(Math.max(1, (slots.length * vocabulary) / mostLogits)));
  const filled = Math.ceil(slots.length / parts) * parts;
  const ofActions = (ids: number[]) =>
    tensor(
      Int32Array.from({ length: filled }, (_, m) => ids[m] ?? 0),
      [filled],
    );
  const dims = [chosen.length, time];
  const inputs = {
    tokens: tensor(tokens, dims),
    positions: tensor(positions, dims),
    mask: tensor(causalMask(time), [time, time]),
    where: ofActions(where),
    targets: ofActions(targets),
  };
  return { inputs, slots, parts };
}

/** Per-token values of `rows` at a batch's action tokens: [M], 0 where M is filled up. */
export function gatherSlots(values: Rows, { slots, inputs }: PaddedBatch): Float32Array {
  const gathered = new Float32Array(inputs.where!.data.length);
  for (const [m, { row, position }] of slots.entries()) gathered[m] = values[row]![position]!;
  return gathered;
}

/** Writes a batch's per-token results [M] to where they belong. */
export function scatterSlots(results: ArrayLike<number>, slots: PaddedBatch['slots'], into: Rows): void {
  for (const [index, { row, position }] of slots.entries()) into[row]![position] = results[index]!;
}
