/** The memory of this machine. */
import { totalmem } from 'node:os';

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
