/** A folder in memory where the system has one: what workers share is synced to the disk file by file, which takes most of a test. */
import { existsSync } from 'node:fs';
import { mkdtemp } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';

const memory = '/dev/shm';

export function memoryFolder(prefix: string): Promise<string> {
  return mkdtemp(join(existsSync(memory) ? memory : tmpdir(), prefix));
}
