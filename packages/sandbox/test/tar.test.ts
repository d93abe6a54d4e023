/** The reader of archives under hostile archives. */
import { Readable } from 'node:stream';
import { packTar, type TarEntry, type TarHeader } from 'modern-tar';
import { expect, test } from 'vitest';
import { type ArchiveLimits, type FileToPack, packedTar, readTar } from '../src/container/tar.ts';

const roomy: ArchiveLimits = { bytes: 10_000, entries: 20 };

async function* chunks(bytes: Uint8Array, size = 700): AsyncGenerator<Uint8Array> {
  for (let at = 0; at < bytes.length; at += size) yield bytes.subarray(at, at + size);
}

function entry(header: Partial<TarHeader> & { name: string }, body = ''): TarEntry {
  return { header: { size: body.length, ...header }, body };
}

async function packed(files: FileToPack[]): Promise<Buffer> {
  return Buffer.concat(await Readable.from(packedTar(files)).toArray());
}

async function read(entries: TarEntry[], limits = roomy) {
  return readTar(chunks(await packTar(entries)), '/out', limits);
}

/** Rewrites octal fields of the first head, and its checksum. */
function forge(archive: Uint8Array, fields: Record<number, string>): Uint8Array {
  const bytes = Buffer.from(archive);
  for (const [at, text] of Object.entries(fields)) bytes.write(text, Number(at), 'latin1');
  bytes.fill(' ', 148, 156);
  const sum = bytes.subarray(0, 512).reduce((total, byte) => total + byte, 0);
  bytes.write(`${sum.toString(8).padStart(6, '0')}\0 `, 148, 'latin1');
  return bytes;
}

test('files and folders are read as they were packed, with long and strange names', async () => {
  const long = `out/${'folder é/'.repeat(40)}end`;
  const files = [
    { path: '/out' },
    { path: 'out/run.sh', bytes: '#!/bin/sh\n', mode: 0o755 },
    { path: 'out/none', bytes: new Uint8Array() },
    { path: long, bytes: Uint8Array.of(0, 255), mode: 0o600 },
  ];
  const { files: found, skipped } = await readTar(packedTar(files, { uid: 7, gid: 8 }), '/out', roomy);
  expect(skipped).toEqual([]);
  expect(found.map(({ path, mode, bytes }) => [path, mode, bytes && [...bytes]])).toEqual([
    ['/out', 0o755, undefined],
    ['/out/run.sh', 0o755, [...Buffer.from('#!/bin/sh\n')]],
    ['/out/none', 0o644, []],
    [`/${long}`, 0o600, [0, 255]],
  ]);
  expect((await packed(files)).equals(await packed(files))).toBe(true);
});

test('no file that is packed leaves the archive', async () => {
  for (const path of ['../x', 'a/../../x', '/../../etc/passwd', 'a\0b']) {
    const packing = packed([{ path, bytes: '' }]);
    if (path.startsWith('/')) expect((await packing).toString('latin1')).toMatch(/^etc\/passwd\0/);
    else await expect(packing, path).rejects.toMatchObject({ code: 'usage.sandbox_file' });
  }
});

test('links, FIFOs, devices and sparse files are named and skipped, and special permissions dropped', async () => {
  const types = ['link', 'symlink', 'fifo', 'character-device', 'block-device'] as const;
  const { files, skipped } = await read([
    ...types.map((type) => entry({ name: `out/${type}`, type, linkname: '/etc/shadow' })),
    entry({ name: 'out/sparse', pax: { 'GNU.sparse.major': '1', 'GNU.sparse.realsize': '1e15' } }, 'map'),
    entry({ name: 'out/setuid', mode: 0o4755 }, 'x'),
  ]);
  expect(skipped).toEqual([
    ...types.map((type) => ({ path: `/out/${type}`, type })),
    { path: '/out/sparse', type: 'sparse file' },
  ]);
  expect(files).toEqual([{ path: '/out/setuid', mode: 0o755, bytes: expect.anything() }]);
});

test('a name that leaves the folder, lies outside, or is too long is refused', async () => {
  for (const name of [
    '../out/x',
    'out/../../etc/passwd',
    'out/a/..',
    '/etc/passwd',
    'etc/passwd',
    'outside/x',
    '.',
    `out/${'x'.repeat(5000)}`,
  ]) {
    await expect(read([entry({ name }, 'x')]), name).rejects.toMatchObject({ code: 'usage.sandbox_file' });
    const pax = entry({ name: 'out/x', pax: { path: name } }, 'x');
    await expect(read([pax]), `pax ${name}`).rejects.toMatchObject({ code: 'usage.sandbox_file' });
  }
  const nul = entry({ name: 'out/x', pax: { path: 'out/a\0b' } }, 'x');
  await expect(read([nul])).rejects.toMatchObject({ code: 'usage.sandbox_file' });
  expect((await read([entry({ name: '/out//./x' }, 'x')])).files[0]!.path).toBe('/out/x');
});

test('the limits of bytes and entries hold to the byte and the entry', async () => {
  const files = [entry({ name: 'out/a' }, 'aaaa'), entry({ name: 'out/b' }, 'bbb')];
  expect((await read(files, { bytes: 7, entries: 2 })).files).toHaveLength(2);
  await expect(read(files, { bytes: 6, entries: 2 })).rejects.toThrow('/out: it holds more than 6 bytes');
  await expect(read(files, { bytes: 7, entries: 1 })).rejects.toThrow('/out: it holds more than 1 entries');
  // Skipped entries count too.
  const links = [1, 2, 3].map((n) => entry({ name: `out/${n}`, type: 'symlink', linkname: 'x' }));
  await expect(read(links, { bytes: 7, entries: 2 })).rejects.toThrow('more than 2 entries');
});

test('an endless archive is left after its limit, whatever its heads say', async () => {
  let sent = 0;
  async function* endless(head: Uint8Array) {
    yield head;
    for (;;) {
      sent += 2 ** 16;
      yield new Uint8Array(2 ** 16).fill(1);
    }
  }
  const file = (await packTar([entry({ name: 'out/a' }, 'a')])).subarray(0, 512);
  for (const head of [file, forge(file, { 124: '77777777777' }), forge(file, { 156: 'x' })]) {
    sent = 0;
    const reading = readTar(endless(head), '/out', roomy);
    await expect(reading).rejects.toMatchObject({ code: 'usage.sandbox_file' });
    expect(sent).toBeLessThan(roomy.bytes + roomy.entries * 4096 + 2 ** 17);
  }
});

test('an archive whose sizes lie, whose sum is wrong or that is cut is broken', async () => {
  const whole = await packTar([entry({ name: 'out/a' }, 'a'.repeat(600)), entry({ name: 'out/b' }, 'b')]);
  const broken = (bytes: Uint8Array) =>
    expect(readTar(chunks(bytes), '/out', roomy)).rejects.toMatchObject({ code: 'infrastructure.sandbox' });
  for (const cut of [1, 100, 512, 1000, 1536, 2048, whole.length - 1024, whole.length - 1])
    await broken(whole.subarray(0, cut));
  for (const size of ['00000007777', '00000000000', '-0000000010', '////////////', '\xff\xff\xff\xff\xff'])
    for (const type of ['0', 'x', 'L', 'S']) await broken(forge(whole, { 124: size, 156: type }));
  const wrongSum = Buffer.from(whole);
  wrongSum[0] = 0x78;
  await broken(wrongSum);
  await broken(await packTar([entry({ name: 'out/a', pax: { size: '9000' } }, 'a')]));
  await broken(Buffer.from('{"message":"no such file"}'));
});
