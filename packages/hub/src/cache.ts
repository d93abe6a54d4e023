/** The cache that Python's huggingface_hub has too: blobs by digest, and snapshots of links to them by commit. */
import { randomUUID } from 'node:crypto';
import { link, readdir, readFile, rename, rm, stat, symlink, writeFile } from 'node:fs/promises';
import { dirname, join, relative } from 'node:path';
import { ensureDir, withDiskErrors } from '@toolenv/core/files';
import type { Repo } from './hub-fetch.ts';
import { isCommit } from './hub-name.ts';
import type { HubFile } from './listing.ts';

export class CachedRepo {
  readonly folder: string;

  constructor(cache: string, { type, name }: Pick<Repo, 'type' | 'name'>) {
    this.folder = join(cache, [`${type}s`, ...name.split('/')].join('--'));
  }

  blob({ digest }: HubFile): string {
    return join(this.folder, 'blobs', digest);
  }

  snapshot(commit: string): string {
    return join(this.folder, 'snapshots', commit);
  }

  /** The commit of a branch or a tag, as it was last asked for. */
  async commitOf(revision: string): Promise<string | undefined> {
    if (isCommit(revision)) return revision;
    const text = await readFile(join(this.folder, 'refs', revision), 'utf8').catch(() => '');
    return isCommit(text.trim()) ? text.trim() : undefined;
  }

  async keepCommit(revision: string, commit: string): Promise<void> {
    if (!isCommit(revision)) await this.#write(join(this.folder, 'refs', revision), commit);
  }

  /** The list of files that {@link keepListing} kept, by which a snapshot is known to be whole. Python keeps none. */
  async listing(commit: string): Promise<HubFile[] | undefined> {
    try {
      return JSON.parse(await readFile(this.#listing(commit), 'utf8')) as HubFile[];
    } catch {
      return undefined;
    }
  }

  async keepListing(commit: string, files: readonly HubFile[]): Promise<void> {
    await this.#write(this.#listing(commit), JSON.stringify(files));
  }

  /** The files of a snapshot, in place of a list. */
  async filesIn(commit: string): Promise<HubFile[]> {
    const folder = this.snapshot(commit);
    const entries = await readdir(folder, { recursive: true }).catch(() => []);
    const files = entries.map(async (path): Promise<HubFile[]> => {
      const about = await stat(join(folder, path)).catch(() => undefined);
      return about?.isFile() ? [{ path: path.replaceAll('\\', '/'), bytes: about.size, digest: '' }] : [];
    });
    return (await Promise.all(files)).flat();
  }

  /** Whether a snapshot has a file of the right size: it had its digest when it came. */
  async has(commit: string, { path, bytes }: HubFile): Promise<boolean> {
    return hasSize(join(this.snapshot(commit), path), bytes);
  }

  /** Gives a blob the name of its file in a snapshot. */
  async place(commit: string, file: HubFile): Promise<void> {
    const [path, blob] = [join(this.snapshot(commit), file.path), this.blob(file)];
    await ensureDir(dirname(path));
    await withDiskErrors(path, async () => {
      // A link to a blob that was deleted.
      await rm(path, { force: true });
      // Windows may allow no symbolic links.
      await symlink(relative(dirname(path), blob), path).catch((error) => {
        if (!isThere(error)) return link(blob, path);
      });
    }).catch((error) => {
      if (!isThere(error)) throw error;
    });
  }

  #listing(commit: string): string {
    return join(this.folder, '.toolenv', `${commit}.json`);
  }

  async #write(file: string, content: string): Promise<void> {
    await ensureDir(dirname(file));
    const partial = `${file}.${randomUUID()}.partial`;
    await withDiskErrors(file, () => writeFile(partial, content).then(() => rename(partial, file)));
  }
}

export async function hasSize(file: string, bytes: number): Promise<boolean> {
  const about = await stat(file).catch(() => undefined);
  return about?.isFile() === true && about.size === bytes;
}

/** Whether another process was faster. */
function isThere(error: unknown): boolean {
  return (error as NodeJS.ErrnoException).code === 'EEXIST';
}
