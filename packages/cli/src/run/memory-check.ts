/** Estimates a run's memory before it begins, and refuses a run that needs more than the machine has. */

import { totalmem } from 'node:os';
import { ToolEnvError } from '@toolenv/core';
import type { DownloadPlan, DownloadWatch, MemoryEstimate } from '@toolenv/core/plugins';
import { Progress } from '../display/progress.ts';
import { flagName, safeLine } from '../display/terminal-text.ts';

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

/** Bytes. */
export interface MachineMemory {
  /** As much as this process may have. */
  total: number;
  /** Free memory. Systems differ in whether they count memory that they can take back. */
  available: number;
}

export function machineMemory(): MachineMemory {
  const limit = process.constrainedMemory() || Number.POSITIVE_INFINITY;
  return { total: Math.min(totalmem(), limit), available: process.availableMemory() };
}

const megabyte = 1e6;

/**
 * Says what a command is about to download, and draws its progress.
 * @param options.isTraining Whether the memory of training counts.
 * @throws ToolEnvError `usage.memory` if training the model needs more than the machine has: its weights are then not downloaded.
 */
export function showDownload(
  { name, revision, bytes, memory }: DownloadPlan,
  { isTraining }: { isTraining: boolean },
): DownloadWatch {
  const size = bytes < 1e9 ? `${(bytes / megabyte).toFixed(1)} MB` : `${(bytes / 1e9).toFixed(2)} GB`;
  process.stderr.write(`${safeLine(`Downloading ${name} at ${revision.slice(0, 12)}: ${size}.`)}\n`);
  if (isTraining && memory) process.stderr.write(`${checkMemory(memory)}\n`);
  const bar = new Progress(`${name}, MB`, Math.ceil(bytes / megabyte));
  return { progress: (now) => bar.update(Math.floor(now / megabyte), ''), end: () => bar.stop() };
}
