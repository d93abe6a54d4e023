/** Divides the rows of a rollout among optimizer steps. */
import { createRng } from '@toolenv/core';
import { groupBy } from './group-by.ts';

/**
 * The rows of each optimizer step: `miniBatches` of every epoch, shuffled if there is more than one. The rows of an episode stay
 * together and in order. No batch is empty.
 * @param rows Numbers of rows.
 * @param episodes Names the episode of each row by its number. Default: each row is an episode.
 */
export function miniBatchesOf(
  rows: readonly number[],
  { epochs, miniBatches }: { epochs: number; miniBatches: number },
  stepSeed: number,
  episodes?: readonly unknown[],
): number[][] {
  const whole = [...groupBy(rows, (b) => (episodes ? episodes[b] : b)).values()];
  const batches: number[][] = [];
  for (let epoch = 0; epoch < epochs; epoch++) {
    const order = miniBatches === 1 ? whole : createRng(stepSeed, 'mini-batches', epoch).shuffle([...whole]);
    for (let part = 0; part < miniBatches; part++) {
      const [start, end] = [part, part + 1].map((edge) => Math.floor((edge * order.length) / miniBatches));
      batches.push(order.slice(start, end).flat());
    }
  }
  return batches.filter(({ length }) => length > 0);
}
