/**
 * The entries of a tar archive as it arrives. `unpackTar` of modern-tar needs the whole archive in memory, and its decoder of streams stops
 * for good at some large files. The archive is not trusted.
 */

export interface StreamedHeader {
  name: string;
  linkname: string;
  type: string;
  mode: number;
  uid: number;
  gid: number;
  size: number;
  /** Seconds since 1970. */
  mtime: number;
  isSparse: boolean;
}

export interface StreamedEntry {
  header: StreamedHeader;
  /** The content, all in memory. What is not read is passed over. */
  read(): Promise<Uint8Array>;
}

const block = 512;

/** Bytes of a head that stands before another: long names and extended attributes. */
const maxHeadLength = 2 ** 20;

const types: Readonly<Record<string, string>> = {
  ...{ '\0': 'file', '0': 'file', '1': 'link', '2': 'symlink', '3': 'character-device', '4': 'block-device' },
  ...{ '5': 'directory', '6': 'fifo', '7': 'file' },
};

/** @throws Error for an archive that is broken or cut. */
export async function* streamedEntries(chunks: AsyncIterable<Uint8Array>): AsyncGenerator<StreamedEntry> {
  const source = chunks[Symbol.asyncIterator]();
  let rest: Uint8Array = new Uint8Array();
  const more = async () => {
    const { done, value } = await source.next();
    if (done) throw new Error('the archive is cut');
    rest = value;
  };
  const take = async (length: number) => {
    const bytes = new Uint8Array(length);
    for (let at = 0; at < length; ) {
      if (rest.length === 0) await more();
      const part = rest.subarray(0, length - at);
      bytes.set(part, at);
      at += part.length;
      rest = rest.subarray(part.length);
    }
    return bytes;
  };
  const pass = async (length: number) => {
    for (let left = length; left > 0; ) {
      if (rest.length === 0) await more();
      const passed = Math.min(left, rest.length);
      rest = rest.subarray(passed);
      left -= passed;
    }
  };
  try {
    let extended: Record<string, string> = {};
    for (let head = await take(block); head.some((byte) => byte !== 0); head = await take(block)) {
      const header = headerOf(head);
      const letter = text(head, 156, 1) || '\0';
      if (letter === 'x' || letter === 'g' || letter === 'L' || letter === 'K') {
        if (header.size > maxHeadLength) throw new Error('a head is too long');
        const said = await take(header.size);
        await pass(padding(header.size));
        if (letter === 'x') extended = { ...extended, ...recordsOf(said) };
        else if (letter !== 'g') extended[letter === 'L' ? 'path' : 'linkpath'] = text(said, 0, said.length);
        continue;
      }
      extend(header, extended);
      extended = {};
      let left = hasContent(header.type) ? header.size : 0;
      const padded = padding(left);
      if (!hasContent(header.type)) header.size = 0;
      yield {
        header,
        async read() {
          const bytes = await take(left);
          left = 0;
          return bytes;
        },
      };
      await pass(left + padded);
    }
  } finally {
    await source.return?.();
  }
}

function headerOf(head: Uint8Array): StreamedHeader {
  const sum = head.reduce((total, byte, at) => total + (at >= 148 && at < 156 ? 32 : byte), 0);
  if (numberAt(head, 148, 8) !== sum) throw new Error('a head has a wrong checksum');
  const prefix = text(head, 257, 6) === 'ustar' ? text(head, 345, 155) : '';
  const header = {
    name: `${prefix === '' ? '' : `${prefix}/`}${text(head, 0, 100)}`,
    linkname: text(head, 157, 100),
    type: types[text(head, 156, 1) || '\0'] ?? 'unknown',
    mode: numberAt(head, 100, 8),
    uid: numberAt(head, 108, 8),
    gid: numberAt(head, 116, 8),
    size: numberAt(head, 124, 12),
    mtime: numberAt(head, 136, 12),
    isSparse: false,
  };
  return checked(header);
}

function extend(
  header: StreamedHeader,
  { path, linkpath, size, uid, gid, mtime, ...other }: Record<string, string>,
) {
  if (path !== undefined) header.name = path;
  if (linkpath !== undefined) header.linkname = linkpath;
  if (size !== undefined) header.size = Number(size);
  if (uid !== undefined) header.uid = Number(uid);
  if (gid !== undefined) header.gid = Number(gid);
  if (mtime !== undefined) header.mtime = Number(mtime);
  header.isSparse = Object.keys(other).some((key) => key.startsWith('GNU.sparse.'));
  checked(header);
}

function checked(header: StreamedHeader): StreamedHeader {
  if (!Number.isSafeInteger(header.size) || header.size < 0) throw new Error('a head has no size');
  return header;
}

/** The records of an extended head: `<length> <key>=<value>\n`. */
function recordsOf(bytes: Uint8Array): Record<string, string> {
  const records: Record<string, string> = {};
  for (let at = 0; at < bytes.length; ) {
    const space = bytes.indexOf(32, at);
    const length = Number(new TextDecoder().decode(bytes.subarray(at, space)));
    const end = at + length;
    if (space < 0 || !Number.isInteger(length) || end <= space + 1 || end > bytes.length)
      throw new Error('an extended head is broken');
    const record = new TextDecoder().decode(bytes.subarray(space + 1, end - 1));
    const equals = record.indexOf('=');
    records[record.slice(0, equals)] = record.slice(equals + 1);
    at = end;
  }
  return records;
}

function hasContent(type: string): boolean {
  return type === 'file' || type === 'unknown';
}

function padding(size: number): number {
  return (block - (size % block)) % block;
}

function text(bytes: Uint8Array, at: number, length: number): string {
  const field = bytes.subarray(at, at + length);
  const end = field.indexOf(0);
  return new TextDecoder().decode(end < 0 ? field : field.subarray(0, end));
}

/** Octal digits, or a big-endian number where the first bit is set, as GNU tar writes large ones. */
function numberAt(bytes: Uint8Array, at: number, length: number): number {
  const first = bytes[at]!;
  if ((first & 0x80) === 0) return Number.parseInt(text(bytes, at, length).trim() || '0', 8);
  if (first === 0xff) return -1;
  return bytes.subarray(at + 1, at + length).reduce((value, byte) => value * 256 + byte, first & 0x7f);
}
