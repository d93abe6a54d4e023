/** libraryIn: the file of libtorch in a folder, if it can be one. */
import { accessSync, constants, existsSync, statSync } from 'node:fs';
import { join } from 'node:path';
import { messageOf, ToolEnvError } from '@toolenv/core';
import { minVersion } from './torch-versions.ts';

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

/** The error of a library that cannot be loaded. */
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
