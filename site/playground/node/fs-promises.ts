/** node:fs/promises in a tab. */
import { fs } from 'memfs';

export const { appendFile, cp, link, mkdir, mkdtemp, open, readdir, readFile, rename, rm, stat, writeFile } =
  fs.promises;
export const { constants } = fs;
export default fs.promises;
