/** EpisodeFolders: a fresh working folder for each episode, in one temporary folder that is removed with all of them. */
import { rmSync } from 'node:fs';
import { mkdir, mkdtemp, realpath, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { withDiskErrors } from '@toolenv/core/files';

/** Folders to remove if this process exits without closing them. */
const open = new Set<string>();
process.on('exit', () => {
  for (const folder of open) rmSync(folder, { recursive: true, force: true });
});

export class EpisodeFolders {
  #parent: Promise<string> | undefined;
  #count = 0;

  /** The path of a new, empty folder, without symbolic links. */
  async create(): Promise<string> {
    this.#parent ??= makeParent();
    this.#count += 1;
    const name = String(this.#count);
    const folder = join(await this.#parent, name);
    await withDiskErrors(folder, () => mkdir(folder));
    return folder;
  }

  async remove(folder: string): Promise<void> {
    await rm(folder, { recursive: true, force: true });
  }

  /** Removes all folders. */
  async close(): Promise<void> {
    const parent = await this.#parent;
    if (parent === undefined) return;
    await this.remove(parent);
    open.delete(parent);
  }
}

async function makeParent(): Promise<string> {
  // Servers compare paths with the real paths of the folders that they may use.
  const prefix = join(await realpath(tmpdir()), 'toolenv-mcp-');
  const parent = await withDiskErrors(prefix, () => mkdtemp(prefix));
  open.add(parent);
  return parent;
}
