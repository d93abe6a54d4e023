/** Says before a run what it will hold in memory, and refuses one that would run out. */
import { ToolEnvError } from '@toolenv/core';
import { type MachineMemory, machineMemory } from './machine-memory.ts';

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
 * @throws ToolEnvError `usage.memory` if it is more than the machine has.
 */
export function checkMemory(memory: Memory, machine: MachineMemory = machineMemory()): string {
  const { weights, gradients, optimizer, activations, total, cachePerToken } = memory;
  const parts = `weights ${gigabytes(weights)}, gradients ${gigabytes(gradients)}, optimizer ${gigabytes(optimizer)}, activations ${gigabytes(activations)}`;
  const estimate = `Training holds about ${gigabytes(total)} GB (${parts})`;
  const cache = `${(cachePerToken / 1000).toFixed(1)} KB for each token of an episode`;
  if (total <= machine.total) {
    const doubt = total > machine.available ? ', which may not be enough' : '';
    return `${estimate}, and ${cache}; ${gigabytes(machine.available)} GB are free${doubt}.`;
  }
  const message = `${estimate}, and there are ${gigabytes(machine.total)} GB: train adapters (--lora-rank 16), keep fewer activations (--gradient-checkpointing, --token-budget 512), or take a smaller model.`;
  throw new ToolEnvError('usage.memory', message);
}

function gigabytes(bytes: number): string {
  return (bytes / 1e9).toFixed(bytes < 1e8 ? 2 : 1);
}
