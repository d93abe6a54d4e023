/**
 * Gives each run of tests a folder of its own for temporary files, and removes it when the run ends. Processes that a test kills leave files there, and
 * ONNX Runtime leaves `mat-debug-<pid>.log` in each process.
 */
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';

export default async function makeTemporaryFolder(): Promise<() => Promise<void>> {
  const folder = await mkdtemp(join(tmpdir(), 'toolenv-'));
  process.env.TMPDIR = folder;
  return () => rm(folder, { recursive: true, force: true });
}
