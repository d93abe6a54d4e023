/** The files of a folder of this machine, for an archive. */
import { createHash } from 'node:crypto';
import { readdir, readFile, realpath, stat } from 'node:fs/promises';
import { join } from 'node:path';
import type { FileToPack } from '@toolenv/sandbox/container';
import { taskMistake } from '../task/task-file.ts';

/** A file or folder below a folder. */
interface Entry {
  path: string;
  isFolder: boolean;
  isExecutable: boolean;
}

/**
 * The files and folders below a folder, one at a time. Links are followed, and must stay in the folder.
 * @param target Folder that stands for `folder` in their paths; empty for relative paths.
 * @throws ToolEnvError `usage.harbor_task` for a link that leaves the folder, and for what is neither a file nor a folder.
 */
export async function* folderFiles(folder: string, target = ''): AsyncGenerator<FileToPack> {
  for await (const { path, isFolder, isExecutable } of entriesOf(folder)) {
    const at = target === '' ? path : `${target}/${path}`;
    if (isFolder) yield { path: at };
    else yield { path: at, bytes: await readFile(join(folder, path)), mode: isExecutable ? 0o755 : 0o644 };
  }
}

/** SHA-256 of the paths, rights and contents of all files below a folder, in hexadecimal digits. Throws as {@link folderFiles} does. */
export async function folderDigest(folder: string): Promise<string> {
  const hash = createHash('sha256');
  for await (const { path, bytes, mode } of folderFiles(folder)) {
    const content = bytes === undefined ? '' : createHash('sha256').update(bytes).digest('hex');
    hash.update(`${JSON.stringify([path, mode, content])}\n`);
  }
  return hash.digest('hex');
}

/** In an order that does not depend on the machine. */
async function* entriesOf(folder: string): AsyncGenerator<Entry> {
  const root = await realpath(folder);
  const folders = [''];
  for (let parent = folders.shift(); parent !== undefined; parent = folders.shift()) {
    for (const name of (await readdir(join(root, parent))).sort()) {
      const path = parent === '' ? name : `${parent}/${name}`;
      const file = await realpath(join(root, path));
      const found = await stat(file);
      const isFolder = found.isDirectory();
      if (!file.startsWith(`${root}/`) || !(isFolder || found.isFile()))
        throw taskMistake(
          join(folder, path),
          '',
          'it is neither a file nor a folder in its task: replace it',
        );
      if (isFolder && file !== join(root, path))
        throw taskMistake(join(folder, path), '', 'links to folders are not supported: copy the folder');
      if (isFolder) folders.push(path);
      yield { path, isFolder, isExecutable: (found.mode & 0o111) !== 0 };
    }
  }
}
