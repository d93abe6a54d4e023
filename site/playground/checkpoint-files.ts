/** The tiny policy's files, which the page's own server has, as files in memory. */
import { mkdir, writeFile } from 'node:fs/promises';
import { basename, join } from 'node:path';
import { messageOf } from '@toolenv/core';

const urls = import.meta.glob<string>('../../packages/tiny-policy/checkpoint/*', {
  query: '?url&no-inline',
  import: 'default',
  eager: true,
});

/** @throws Error naming a file that cannot be loaded. */
export async function fetchCheckpoint(folder: string): Promise<void> {
  await mkdir(folder, { recursive: true });
  const written = Object.entries(urls).map(async ([path, url]) => {
    const file = basename(path);
    const bytes = await load(url).catch((error: unknown) => {
      throw new Error(`${file} cannot be loaded (${messageOf(error)}): load the page again.`);
    });
    await writeFile(join(folder, file), bytes);
  });
  await Promise.all(written);
}

async function load(url: string): Promise<Uint8Array> {
  const response = await fetch(url);
  if (!response.ok) throw new Error(`status ${response.status}`);
  return new Uint8Array(await response.arrayBuffer());
}
