/**
 * seed: gives a folder that has a package.json the packages of the program that uses all of them, before npm installs its own there. npm adds and removes
 * what differs, so that the folder has what an empty folder would get, for a tenth of the work: an installation unpacks 400 MB. `entries` and the first
 * template begin empty. So do the pages, because `npm init` makes dependencies of the packages that it finds.
 */
import { existsSync } from 'node:fs';
import { copyFile, rm } from 'node:fs/promises';
import { join } from 'node:path';
import type { Sandbox } from './sandbox.ts';

/** The folder of that program. */
export const consumer = 'consumer';

/** Does nothing without that program, as in a run of one part. */
export async function seed(folder: string, sandbox: Sandbox): Promise<void> {
  const packages = join(sandbox.folder, consumer, 'node_modules');
  if (!existsSync(packages)) return;
  // Hard links.
  await sandbox.run('cp', ['-al', packages, folder], sandbox.folder);
  // npm replaces the other files, but writes into this.
  const written = '.package-lock.json';
  await rm(join(folder, 'node_modules', written));
  await copyFile(join(packages, written), join(folder, 'node_modules', written));
}
