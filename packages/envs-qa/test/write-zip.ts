/** Writes a zip archive of a few files, deflated. */
import { writeFile } from 'node:fs/promises';
import { crc32, deflateRawSync } from 'node:zlib';

export async function writeZip(path: string, files: Readonly<Record<string, string>>): Promise<void> {
  const [parts, directory]: [Buffer[], Buffer[]] = [[], []];
  let offset = 0;
  for (const [name, text] of Object.entries(files)) {
    const [bytes, title] = [Buffer.from(text), Buffer.from(name)];
    const packed = deflateRawSync(bytes);
    // Version 20, no flags, deflate, no time, then checksum, sizes and lengths (APPNOTE.TXT 4.3.7).
    const common = Buffer.alloc(26);
    common.writeUInt16LE(20, 0);
    common.writeUInt16LE(8, 4);
    common.writeUInt32LE(crc32(bytes), 10);
    common.writeUInt32LE(packed.length, 14);
    common.writeUInt32LE(bytes.length, 18);
    common.writeUInt16LE(title.length, 22);
    const place = Buffer.alloc(14);
    place.writeUInt32LE(offset, 10);
    parts.push(Buffer.from('PK\x03\x04', 'latin1'), common, title, packed);
    directory.push(Buffer.from('PK\x01\x02\x14\0', 'latin1'), common, place, title);
    offset += 4 + common.length + title.length + packed.length;
  }
  const entries = Buffer.concat(directory);
  const end = Buffer.alloc(22);
  end.write('PK\x05\x06', 'latin1');
  end.writeUInt16LE(Object.keys(files).length, 8);
  end.writeUInt16LE(Object.keys(files).length, 10);
  end.writeUInt32LE(entries.length, 12);
  end.writeUInt32LE(offset, 16);
  await writeFile(path, Buffer.concat([...parts, entries, end]));
}
