/** Where `toolenv engine install libtorch` puts PyTorch's libraries. */
import { homedir } from 'node:os';
import { join } from 'node:path';
import { testedVersion } from './torch-versions.ts';

/** In the user's folder for caches (XDG Base Directory Specification). It has the folders of Python's `site-packages`, with libraries alone. */
export function installedFolder(): string {
  const { XDG_CACHE_HOME, LOCALAPPDATA } = process.env;
  const caches = XDG_CACHE_HOME || LOCALAPPDATA || join(homedir(), '.cache');
  return join(caches, 'toolenv', 'libtorch', testedVersion);
}
