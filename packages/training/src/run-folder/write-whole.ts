import { rename, writeFile } from 'node:fs/promises';

/** Writes a file that is never seen half-written. */
export async function writeWhole(file: string, content: string): Promise<void> {
  await writeFile(`${file}.partial`, content);
  await rename(`${file}.partial`, file);
}
