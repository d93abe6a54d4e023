/** unpackWheel: takes the libraries out of a wheel, which is a zip archive. */
import { createWriteStream } from 'node:fs';
import { mkdir } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import { pipeline } from 'node:stream/promises';
import { messageOf, ToolEnvError } from '@toolenv/core';
import { type Entry, openPromise } from 'yauzl';
import { isNeeded } from './wheels.ts';

/** Bytes of all libraries of a wheel. PyTorch's have half a billion. */
const maxBytes = 4 * 2 ** 30;
/** Files of a wheel. PyTorch's has 15,000. */
const maxEntries = 200_000;

/**
 * Writes the files that are needed, under their paths in the wheel.
 * @param most Bytes of these files.
 * @throws ToolEnvError `infrastructure.wheel` for an archive that is damaged, has paths out of its folder, or is larger than it says.
 */
export async function unpackWheel(
  file: string,
  folder: string,
  { signal, most = maxBytes }: { signal?: AbortSignal | undefined; most?: number } = {},
): Promise<void> {
  try {
    // yauzl refuses paths out of the folder, and members that are larger than they say.
    const zip = await openPromise(file, { autoClose: false });
    try {
      const needed: Entry[] = [];
      let entries = 0;
      let bytes = 0;
      for await (const entry of zip.eachEntry()) {
        signal?.throwIfAborted();
        entries += 1;
        if (isNeeded(entry.fileName)) needed.push(entry);
        if (isNeeded(entry.fileName)) bytes += entry.uncompressedSize;
        if (entries > maxEntries || bytes > most) throw new Error('it is larger than any wheel of PyTorch');
      }
      for (const entry of needed) {
        const path = join(folder, ...entry.fileName.split('/'));
        await mkdir(dirname(path), { recursive: true });
        await pipeline(await zip.openReadStreamPromise(entry), createWriteStream(path, { flags: 'wx' }), {
          signal,
        });
      }
    } finally {
      zip.close();
    }
  } catch (error) {
    signal?.throwIfAborted();
    const { code = '' } = error as NodeJS.ErrnoException;
    // Those of the disk have a remedy of their own.
    if (/^E[A-Z]+$/.test(code)) throw error;
    const message = `${file} cannot be unpacked (${messageOf(error).replaceAll('\n', ' ')}): give another --index.`;
    throw new ToolEnvError('infrastructure.wheel', message, { cause: error });
  }
}
