/** Estimates a run's memory before it begins, and refuses a run that needs more than the machine has. */
import { ToolEnvError } from '@toolenv/core';
import type { MemoryEstimate } from '@toolenv/core/plugins';
import { flagName } from '../display/flag-name.ts';
import { type MachineMemory, machineMemory } from './machine-memory.ts';

/**
 * The estimate in words.
 * @throws ToolEnvError `usage.memory` if the estimate is more than the machine has.
 */
export function checkMemory(estimate: MemoryEstimate, machine: MachineMemory = machineMemory()): string {
  const { weights, gradients, optimizer, activations, total, cachePerToken, savers = {} } = estimate;
  const parts = `weights ${gigabytes(weights)}, gradients ${gigabytes(gradients)}, optimizer ${gigabytes(optimizer)}, activations ${gigabytes(activations)}`;
  const need = `Training holds about ${gigabytes(total)} GB (${parts})`;
  const cache = `${(cachePerToken / 1000).toFixed(1)} KB for each token of an episode`;
  if (total <= machine.total) {
    const doubt = total > machine.available ? ', which may not be enough' : '';
    return `${need}, and ${cache}; ${gigabytes(machine.available)} GB are free${doubt}.`;
  }
  const flags = Object.entries(savers).map(([name, value]) =>
    value === true ? flagName(name) : `${flagName(name)} ${value}`,
  );
  const remedy = [...flags, 'a smaller model'].join(', ');
  const message = `${need}, and this machine has ${gigabytes(machine.total)} GB: try ${remedy}.`;
  throw new ToolEnvError('usage.memory', message);
}

function gigabytes(bytes: number): string {
  return (bytes / 1e9).toFixed(bytes < 1e8 ? 2 : 1);
}
