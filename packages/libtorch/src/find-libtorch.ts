/** findLibtorch: the libraries of a PyTorch that is on the machine already. Nothing is imported or changed. */
import { spawnSync } from 'node:child_process';
import { accessSync, constants, existsSync, statSync } from 'node:fs';
import { join, resolve } from 'node:path';
import { messageOf, ToolEnvError } from '@toolenv/core';

/** The oldest version that has `torch_call_dispatcher`. */
export const minVersion = [2, 10] as const;

/** Prints the folder without loading PyTorch, which takes seconds. */
const question =
  'import importlib.util as u; s = u.find_spec("torch"); print(s.submodule_search_locations[0] if s else "")';

/**
 * The folder that TOOLENV_LIBTORCH names, or that of the first Python with PyTorch: TOOLENV_PYTHON, the active virtual environment, .venv here, python3.
 * @throws ToolEnvError `usage.libtorch` if there is none.
 */
export function findLibtorch(): string {
  const { TOOLENV_LIBTORCH: named, TOOLENV_PYTHON: python, VIRTUAL_ENV: active } = process.env;
  if (named?.startsWith('~')) {
    const message = `TOOLENV_LIBTORCH is "${named}": only a shell replaces ~, and only without quotes. Write the whole path.`;
    throw new ToolEnvError('usage.libtorch', message);
  }
  if (named) return resolve(named);
  const bin = process.platform === 'win32' ? ['Scripts', 'python.exe'] : ['bin', 'python'];
  const inFolders = [active, '.venv'].flatMap((folder) => (folder ? [join(folder, ...bin)] : []));
  const pythons = [
    ...(python ? [python] : []),
    ...inFolders.filter((file) => existsSync(file)),
    'python3',
    'python',
  ];
  for (const each of pythons) {
    const { stdout } = spawnSync(each, ['-c', question], { encoding: 'utf8', timeout: 20_000 });
    const folder = stdout?.trim();
    if (folder && existsSync(join(folder, 'lib'))) return join(folder, 'lib');
  }
  const message = `No PyTorch was found (looked in ${pythons.join(', ')}): install it with pip install torch, or set TOOLENV_LIBTORCH to its folder lib.`;
  throw new ToolEnvError('usage.libtorch', message);
}

/**
 * The library in a folder. Loading anything but a regular file could wait forever.
 * @throws ToolEnvError `usage.libtorch` if it is not there, or cannot be read.
 */
export function libraryIn(folder: string): string {
  const file = join(folder, fileName());
  let isFile: boolean;
  try {
    isFile = statSync(file).isFile();
    accessSync(file, constants.R_OK);
  } catch (error) {
    throw unusable(file, reasonOf(error, folder));
  }
  if (!isFile) throw unusable(file, 'it is not a regular file');
  return file;
}

export function unusable(file: string, why: string): ToolEnvError {
  const message = `${file} cannot be used (${why}): install PyTorch ${minVersion.join('.')} or later, or set TOOLENV_LIBTORCH to its folder lib.`;
  return new ToolEnvError('usage.libtorch', message);
}

function reasonOf(error: unknown, folder: string): string {
  const { code } = error as NodeJS.ErrnoException;
  if (code === 'EACCES' || code === 'EPERM') return 'it may not be read';
  if (code !== 'ENOENT' && code !== 'ENOTDIR') return messageOf(error);
  const inside = join(folder, 'lib');
  return existsSync(join(inside, fileName())) ? `it is in ${inside}` : 'there is no such file';
}

function fileName(): string {
  if (process.platform === 'win32') return 'torch_cpu.dll';
  return process.platform === 'darwin' ? 'libtorch_cpu.dylib' : 'libtorch_cpu.so';
}
