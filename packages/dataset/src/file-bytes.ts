/** fileBytes: the bytes of a file, of a gzip file unpacked, or of a member of a zip archive, as a stream. */
import { createReadStream } from 'node:fs';
import { pipeline } from 'node:stream';
import { crc32, createGunzip } from 'node:zlib';
import { ToolEnvError } from '@toolenv/core';
import { isGzip } from '@toolenv/core/files';
import { type Entry, openPromise } from 'yauzl';
import { requireFile } from './read-failure.ts';

/** `archive.zip`, or `archive.zip/folder/member.json`. */
const inZip = /^(.+?\.zip)(?:\/(.+))?$/i;

/** Whether the path is of a zip archive or of a member of one. */
export function isInArchive(path: string): boolean {
  return inZip.test(path);
}

/**
 * Holds a few chunks at a time. What a file is unpacked from is told by its first bytes, and a member of an archive by the path.
 * @param path Of a file, or `archive.zip/member`. The member may be left out if the archive has only one file, and its folders too.
 * @throws The system's error, zlib's, or ToolEnvError as {@link zipMember} does.
 */
export async function* fileBytes(path: string): AsyncGenerator<Uint8Array> {
  const [, archive, member] = inZip.exec(path) ?? [];
  if (archive !== undefined) {
    await requireFile(archive, path);
    yield* zipMember(archive, member);
    return;
  }
  await requireFile(path);
  const isPacked = await isGzip(path);
  const file = createReadStream(path, { highWaterMark: 1 << 18 });
  // The reader of the unpacked stream gets the error of either.
  yield* isPacked ? pipeline(file, createGunzip(), () => {}) : file;
}

/**
 * One file of a zip archive. The stream ends with an error if the bytes differ from the member's checksum, which yauzl does not verify.
 * @param member Path in the archive. Its folders may be left out. The archive's only file if it is left out.
 * @throws ToolEnvError `usage.zip_member`, which lists the files, if no file or several have the name; what yauzl throws for a file that
 *   is not a whole archive.
 */
async function* zipMember(archive: string, member?: string): AsyncGenerator<Uint8Array> {
  const zip = await openPromise(archive, { autoClose: false });
  try {
    const files: Entry[] = [];
    for await (const entry of zip.eachEntry()) {
      // Archives made on a Mac repeat each file as one of metadata.
      const isFile =
        !entry.fileName.endsWith('/') && !/(^|\/)(__MACOSX|\.DS_Store)(\/|$)/.test(entry.fileName);
      if (isFile) files.push(entry);
    }
    const exact = files.filter(({ fileName }) => fileName === member);
    const named = files.filter(({ fileName }) => member === undefined || fileName.endsWith(`/${member}`));
    const found = exact.length > 0 ? exact : named;
    if (found.length !== 1) throw noMember(archive, member, files);
    const [entry] = found as [Entry];
    let checksum = 0;
    for await (const chunk of await zip.openReadStreamPromise(entry)) {
      checksum = crc32(chunk, checksum);
      yield chunk;
    }
    if (checksum !== entry.crc32) throw new Error('its checksum is wrong');
  } finally {
    zip.close();
  }
}

function noMember(archive: string, member: string | undefined, files: readonly Entry[]): ToolEnvError {
  const names = files.slice(0, 20).map(({ fileName }) => `${archive}/${fileName}`);
  const what =
    member === undefined ? `${archive} has ${files.length} files` : `${archive} has no single file ${member}`;
  const remedy = names.length === 0 ? 'give another archive' : `give one of ${names.join(', ')}`;
  return new ToolEnvError('usage.zip_member', `${what}: ${remedy}.`);
}
