/** The SHA-256 of a file, and its record in a second file, in the format of `sha256sum`. */
import { createHash } from 'node:crypto';
import { createReadStream } from 'node:fs';
import { readFile } from 'node:fs/promises';
import { basename } from 'node:path';
import { writeWhole } from '@toolenv/training';

/** In hexadecimal digits. */
export async function sha256Of(file: string, signal?: AbortSignal): Promise<string> {
  const hash = createHash('sha256');
  for await (const chunk of createReadStream(file, { highWaterMark: 1 << 20, signal })) hash.update(chunk);
  return hash.digest('hex');
}

/** The digest that an earlier run recorded; `undefined` without a record. */
export async function recordedDigest(file: string): Promise<string | undefined> {
  const text = await readFile(`${file}.sha256`, 'utf8').catch(() => '');
  return /^[0-9a-f]{64}\b/.exec(text)?.[0];
}

/** Writes `<file>.sha256`, which `sha256sum -c` can check too. */
export async function recordDigest(file: string, digest: string): Promise<void> {
  await writeWhole(`${file}.sha256`, `${digest}  ${basename(file)}\n`);
}
