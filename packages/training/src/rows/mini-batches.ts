/** Divides the rows of a rollout among optimizer steps. */
import { createRng } from '@toolenv/core';

/** The rows of each optimizer step: `miniBatches` of every epoch, shuffled if there is more than one. None is empty. */
export function miniBatchesOf(
  rows: readonly number[],
  { epochs, miniBatches }: { epochs: number; miniBatches: number },
  stepSeed: number,
): number[][] {
  const batches: number[][] = [];
  for (let epoch = 0; epoch < epochs; epoch++) {
    const order = miniBatches === 1 ? rows : createRng(stepSeed, 'mini-batches', epoch).shuffle([...rows]);
    for (let part = 0; part < miniBatches; part++) {
      const [start, end] = [part, part + 1].map((edge) => Math.floor((edge * order.length) / miniBatches));
      batches.push(order.slice(start, end));
    }
  }
  return batches.filter(({ length }) => length > 0);
}
