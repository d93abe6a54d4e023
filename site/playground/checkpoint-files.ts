/** The tiny policy's files, which the page's own server has, as files in memory. */
import { mkdir, writeFile } from 'node:fs/promises';
import { basename, join } from 'node:path';

const urls = import.meta.glob<string>('../../workshop/tiny-policy/checkpoint/*', {
  query: '?url&no-inline',
  import: 'default',
  eager: true,
});

/** @throws Error for a file that cannot be fetched. */
export async function fetchCheckpoint(folder: string): Promise<void> {
  await mkdir(folder, { recursive: true });
  const fetched = Object.entries(urls).map(async ([file, url]) => {
    const response = await fetch(url);
    if (!response.ok) throw new Error(`${url} cannot be loaded (${response.status}): load the page again.`);
    await writeFile(join(folder, basename(file)), new Uint8Array(await response.arrayBuffer()));
  });
  await Promise.all(fetched);
}
