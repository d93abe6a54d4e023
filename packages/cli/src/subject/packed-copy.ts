/** packedCopy: a package as its users get it: only the files that npm would publish, away from the folder of its author. */
import { execFile } from 'node:child_process';
import { cp, mkdir, mkdtemp, realpath, rm } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import { promisify } from 'node:util';

export interface PackedCopy {
  folder: string;
  remove(): Promise<void>;
}

/**
 * Copies what `npm pack` would publish into the `node_modules` of the package, where its dependencies are found.
 * `undefined` where npm, or such a folder, cannot be used.
 */
export async function packedCopy(folder: string): Promise<PackedCopy | undefined> {
  if (process.versions.pnp) return undefined;
  let holder: string | undefined;
  const remove = async () => {
    if (holder) await rm(holder, { recursive: true, force: true });
  };
  try {
    const files = await packedFiles(folder);
    const modules = join(folder, 'node_modules');
    await mkdir(modules, { recursive: true });
    // Neither npm nor the search for plugins looks into a folder with a dot.
    holder = await realpath(await mkdtemp(join(modules, '.toolenv-packed-')));
    // In a folder of its own, because the name of a folder in node_modules is the name of its package.
    const copy = join(holder, 'package');
    for (const file of files) {
      await mkdir(dirname(join(copy, file)), { recursive: true });
      await cp(join(folder, file), join(copy, file));
    }
    return { folder: copy, remove };
  } catch {
    await remove();
    return undefined;
  }
}

async function packedFiles(folder: string): Promise<string[]> {
  // Its scripts are the author's: what they would build is there, or is not.
  const options = { cwd: folder, maxBuffer: 2 ** 26, shell: process.platform === 'win32' };
  const args = ['pack', '--dry-run', '--json', '--ignore-scripts'];
  const { stdout } = await promisify(execFile)('npm', args, options);
  // An array; an object by name in later versions of npm.
  const [packed] = Object.values(JSON.parse(stdout)) as { files: { path: string }[] }[];
  return packed!.files.map(({ path }) => path);
}
