/** The files of the two policies, which the page's own server has, as files in memory. */
import { existsSync } from 'node:fs';
import { mkdir, writeFile } from 'node:fs/promises';
import { basename, join } from 'node:path';
import { messageOf } from '@toolenv/core';

const urls = import.meta.glob<string>('../../packages/checkpoints/{tiny,small}/*', {
  query: '?url&no-inline',
  import: 'default',
  eager: true,
});

/** The tiny policy plays the page's own questions, and the small policy plays the reader's environment. */
export type PolicyName = 'tiny' | 'small';

/**
 * Loads the files unless they are there, and returns their folder.
 * @throws Error naming a file that cannot be loaded.
 */
export async function fetchCheckpoint(name: PolicyName): Promise<string> {
  const folder = `/checkpoints/${name}`;
  if (existsSync(join(folder, 'model.safetensors'))) return folder;
  const own = Object.entries(urls).filter(([path]) => path.includes(`/checkpoints/${name}/`));
  const loaded = own.map(async ([path, url]) => {
    const file = basename(path);
    const bytes = await load(url).catch((error: unknown) => {
      throw new Error(`${file} cannot be loaded (${messageOf(error)}): load the page again.`);
    });
    return [file, bytes] as const;
  });
  // Nothing is written if a file is missing, so that the folder is never half full.
  const files = await Promise.all(loaded);
  await mkdir(folder, { recursive: true });
  for (const [file, bytes] of files) await writeFile(join(folder, file), bytes);
  return folder;
}

async function load(url: string): Promise<Uint8Array> {
  const response = await fetch(url);
  if (!response.ok) throw new Error(`status ${response.status}`);
  return new Uint8Array(await response.arrayBuffer());
}
