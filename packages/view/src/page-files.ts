/** The files of the page, as they were built into the package. */
import { readFile } from 'node:fs/promises';
import { extname, join } from 'node:path';
import { ToolEnvError } from '@toolenv/core';

const folder = join(import.meta.dirname, '..', 'dist', 'page');
const types: Readonly<Record<string, string>> = {
  '.html': 'text/html; charset=utf-8',
  '.js': 'text/javascript; charset=utf-8',
  '.css': 'text/css; charset=utf-8',
  '.svg': 'image/svg+xml',
};

/** The pages that the package has. */
export type PageName = 'index.html' | 'play.html';

export interface PageFile {
  type: string;
  bytes: Buffer;
}

/**
 * @param path Of a request.
 * @param page What `/` is.
 * @throws ToolEnvError `usage.page_not_built` in a checkout of the repository without `npm run build`.
 */
export async function readPageFile(path: string, page: PageName): Promise<PageFile | undefined> {
  const name = path === '/' ? `/${page}` : path;
  const type = types[extname(name)];
  if (type === undefined || !/^(\/[\w-][\w.-]*)+$/.test(name)) return undefined;
  try {
    return { type, bytes: await readFile(join(folder, name)) };
  } catch (error) {
    if (path !== '/') return undefined;
    const message = `The page is not in ${folder}: run npm run build.`;
    throw new ToolEnvError('usage.page_not_built', message, { cause: error });
  }
}
