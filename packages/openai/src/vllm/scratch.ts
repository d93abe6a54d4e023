/** makeScratch: a temporary folder for weights on their way to a server. Those of runs that were killed are removed. */
import { mkdtemp, readdir, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { processLiveness, processStart, withDiskErrors } from '@toolenv/core/files';

/** The folder's name says whose it is: the number of a process, and when that started. */
const pattern = /^toolenv-vllm\.(\d+)\.([^.]+)\.\w+$/;

export async function makeScratch(): Promise<string> {
  const parent = tmpdir();
  for (const name of await readdir(parent).catch(() => [])) {
    const [, pid, start] = pattern.exec(name) ?? [];
    if (start === undefined || processLiveness(Number(pid), start) !== 'ended') continue;
    // Another user's stays.
    await rm(join(parent, name), { recursive: true, force: true }).catch(() => {});
  }
  const own = `toolenv-vllm.${process.pid}.${processStart(process.pid) ?? 'unknown'}.`;
  return withDiskErrors(parent, () => mkdtemp(join(parent, own)));
}
