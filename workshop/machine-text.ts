/** machineText: the processor and the Node.js of a measurement. */
import { cpus } from 'node:os';

/** `2 cores of Intel(R) Xeon(R) Processor, Node 20.20.2`, or `1 of 2 cores of …` for work that has one thread. */
export function machineText(threads?: number): string {
  const cores = cpus();
  const used = threads === undefined ? '' : `${threads} of `;
  return `${used}${cores.length} cores of ${cores[0]?.model.trim()}, Node ${process.versions.node}`;
}
