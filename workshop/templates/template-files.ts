/** The chat templates of real models: those that the packages llama-cpp-python (MIT) and TRL (Apache 2.0) have. None is in the repository. */
import { spawnSync } from 'node:child_process';
import { existsSync } from 'node:fs';
import { mkdir, readdir, rename, rm } from 'node:fs/promises';
import { join } from 'node:path';
import { pythonWithTransformers } from '../interop/python-environment.ts';

export interface TemplateFile {
  /** Such as `llama.cpp/Qwen3-Coder` and `trl/qwen3`. */
  name: string;
  path: string;
}

const packages = ['llama-cpp-python==0.3.36', 'trl==1.16.0'];
/** Ignored by git. */
const unpacked = join(import.meta.dirname, '.templates');

/**
 * The templates, sorted by name. The first call downloads the packages with pip, or takes them from the folder that
 * TOOLENV_TEMPLATES names.
 * @throws Error if the packages cannot be had.
 */
export async function templateFiles(): Promise<TemplateFile[]> {
  if (!existsSync(unpacked)) await unpack();
  const names = await readdir(unpacked, { recursive: true });
  return names
    .filter((name) => name.endsWith('.jinja'))
    .sort()
    .map((name) => ({ name: name.slice(0, -'.jinja'.length), path: join(unpacked, name) }));
}

async function unpack(): Promise<void> {
  const python = pythonWithTransformers();
  const partial = `${unpacked}.partial`;
  await rm(partial, { recursive: true, force: true });
  await mkdir(partial, { recursive: true });
  let folder = process.env.TOOLENV_TEMPLATES;
  if (!folder) {
    folder = join(partial, 'packages');
    const [llama, trl] = packages as [string, string];
    run(python, ['-m', 'pip', 'download', '-q', '--no-deps', '--no-binary', ':all:', '-d', folder, llama]);
    run(python, ['-m', 'pip', 'download', '-q', '--no-deps', '-d', folder, trl]);
  }
  run(python, [join(import.meta.dirname, 'unpack.py'), folder, partial]);
  await rm(join(partial, 'packages'), { recursive: true, force: true });
  await rename(partial, unpacked);
}

function run(command: string, args: readonly string[]): void {
  if (spawnSync(command, args, { stdio: ['ignore', 2, 'inherit'] }).status === 0) return;
  throw new Error(
    `${command} ${args.join(' ')} failed: fix the error above, or set TOOLENV_TEMPLATES to a folder with the packages ${packages.join(' and ')}.`,
  );
}
