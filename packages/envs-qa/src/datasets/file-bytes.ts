/** fileBytes: the bytes of a file, of a gzip file unpacked, or of a member of a zip archive, as a stream. */
import { createReadStream } from 'node:fs';
import { open } from 'node:fs/promises';
import { pipeline } from 'node:stream';
import { createGunzip } from 'node:zlib';
import { zipMember } from './zip-member.ts';

/** `archive.zip`, or `archive.zip/folder/member.json`. */
const inZip = /^(.+?\.zip)(?:\/(.+))?$/i;

/**
 * Holds a few chunks at a time. What a file is unpacked from is told by its first bytes, and a member of an archive by the path.
 * @param path Of a file, or `archive.zip/member`. The member may be left out if the archive has only one file, and its folders too.
 * @throws The system's error, zlib's, or ToolEnvError as {@link zipMember} does.
 */
export async function* fileBytes(path: string): AsyncGenerator<Uint8Array> {
  const [, archive, member] = inZip.exec(path) ?? [];
  if (archive !== undefined) {
    yield* zipMember(archive, member);
    return;
  }
  const isPacked = await isGzip(path);
  const file = createReadStream(path, { highWaterMark: 1 << 18 });
  // The reader of the unpacked stream gets the error of either.
  yield* isPacked ? pipeline(file, createGunzip(), () => {}) : file;
}

async function isGzip(path: string): Promise<boolean> {
  const handle = await open(path);
  try {
    const { buffer, bytesRead } = await handle.read(Buffer.alloc(2), 0, 2, 0);
    return bytesRead === 2 && buffer[0] === 0x1f && buffer[1] === 0x8b;
  } finally {
    await handle.close();
  }
}
