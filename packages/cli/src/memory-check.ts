/** Says before a run what it will hold in memory, and refuses one that would run out. */
import { ToolEnvError } from '@toolenv/core';

/** Bytes, as a learner estimates them. */
export interface Memory {
  weights: number;
  gradients: number;
  optimizer: number;
  activations: number;
  total: number;
  cachePerToken: number;
}

/**
 * The estimate in words.
 * @param free Bytes that this process can still have.
 * @throws ToolEnvError `usage.memory`
 */
export function checkMemory(memory: Memory, free: number = process.availableMemory()): string {
  const { weights, gradients, optimizer, activations, total, cachePerToken } = memory;
  const parts = `weights ${gigabytes(weights)}, gradients ${gigabytes(gradients)}, optimizer ${gigabytes(optimizer)}, activations ${gigabytes(activations)}`;
  const estimate = `Training holds about ${gigabytes(total)} GB (${parts})`;
  const cache = `${(cachePerToken / 1000).toFixed(1)} KB for each token of an episode`;
  if (total <= free) return `${estimate}, and ${cache}; ${gigabytes(free)} GB are free.`;
  const message = `${estimate}, of which ${gigabytes(free)} GB are free: train adapters (--lora-rank 16), keep fewer activations (--gradient-checkpointing, --token-budget 512), or take a smaller model.`;
  throw new ToolEnvError('usage.memory', message);
}

function gigabytes(bytes: number): string {
  return (bytes / 1e9).toFixed(bytes < 1e8 ? 2 : 1);
}
