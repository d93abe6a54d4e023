/** cacheFolder: where toolenv keeps what it can make or fetch again. */
import { homedir } from 'node:os';
import { join } from 'node:path';

/** In the user's folder for caches (XDG Base Directory Specification). */
export function cacheFolder(): string {
  const { XDG_CACHE_HOME, LOCALAPPDATA } = process.env;
  return join(XDG_CACHE_HOME || LOCALAPPDATA || join(homedir(), '.cache'), 'toolenv');
}
