/** newFolder: a new folder for temporary files. The run of tests removes it with the folder that temporary-folder.ts makes. */
import { mkdtemp } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';

export function newFolder(): Promise<string> {
  return mkdtemp(join(tmpdir(), 'test-'));
}
