/** What has changed in a container, read out of an archive of all its files. */
import { packTar, type TarEntry, type TarHeader } from 'modern-tar';
import { expect, test } from 'vitest';
import { readChangedFiles, readChanges } from '../src/container/changes.ts';

async function* chunks(bytes: Uint8Array, size: number): AsyncGenerator<Uint8Array> {
  for (let at = 0; at < bytes.length; at += size) yield bytes.subarray(at, at + size);
}

function entry(header: Partial<TarHeader> & { name: string }, body: string | Uint8Array = ''): TarEntry {
  return { header: { size: body.length, ...header }, body };
}

const roomy = { bytes: 10_000_000, entries: 20 };

async function read(entries: TarEntry[], changes: Record<string, boolean>, limits = roomy, size = 700) {
  const tar = chunks(await packTar(entries), size);
  return readChangedFiles(tar, '/app', new Map(Object.entries(changes)), limits);
}

test('a list of changes is read, and what is none refused', () => {
  expect(readChanges(null)).toEqual([]);
  const list = [
    { Path: '/a', Kind: 0 },
    { Path: '/b', Kind: 1 },
    { Path: '/c', Kind: 2 },
  ];
  expect(readChanges(list).map(({ kind }) => kind)).toEqual(['changed', 'added', 'deleted']);
  for (const wrong of [{}, 'no', [{ Path: 1, Kind: 0 }], [{ Path: '/a', Kind: 9 }], [null]])
    expect(() => readChanges(wrong)).toThrow(/no list of changes|a change that is none/);
});

test('only what has changed is kept, with rights, owner and time, and without special rights', async () => {
  const long = `app/${'folder é/'.repeat(40)}end`;
  const [mtime, own] = [new Date(1.7e12), { uid: 4_294_967_294, gid: 7 }];
  const entries = [
    entry({ name: 'app/', type: 'directory', mode: 0o1777 }),
    entry({ name: 'app/large' }, 'x'.repeat(5_000_000)),
    entry({ name: 'app/run', mode: 0o4755, mtime, ...own }, 'text'),
    entry({ name: long }, 'end'),
    entry({ name: 'app/hard', type: 'link', linkname: 'app/run' }),
    entry({ name: 'app/link', type: 'symlink', linkname: '../etc/passwd' }),
    entry({ name: 'app/none', type: 'link', linkname: '../../outside' }),
    entry({ name: 'app/fifo', type: 'fifo' }),
    entry({ name: 'app/old', mtime: new Date(0) }, 'old'),
  ];
  const paths = ['/app', '/app/run', `/${long}`, '/app/hard', '/app/link', '/app/none', '/app/fifo'];
  const changes = Object.fromEntries([...paths.map((path) => [path, true]), ['/app/old', false]]);
  for (const size of [1000, 65_536, 10_000_000]) {
    const { files, skipped } = await read(entries, changes, { bytes: 100, entries: 7 }, size);
    expect(
      files.map(({ path, bytes, target }) => [path, target ?? (bytes && `${Buffer.from(bytes)}`)]),
    ).toEqual([
      ['/app', undefined],
      ['/app/run', 'text'],
      [`/${long}`, 'end'],
      ['/app/hard', 'text'],
      ['/app/link', '../etc/passwd'],
    ]);
    expect(files[0]!.mode).toBe(0o1777);
    expect(files[1]).toMatchObject({ mode: 0o755, owner: own, mtime });
    expect(skipped).toEqual([
      { path: '/app/none', type: 'link' },
      { path: '/app/fifo', type: 'fifo' },
    ]);
  }
});

test('the limits hold for what has changed, second names of files included', async () => {
  const entries = [
    entry({ name: 'app/a' }, 'x'.repeat(60)),
    entry({ name: 'app/b', type: 'link', linkname: 'app/a' }),
  ];
  const changes = { '/app/a': true, '/app/b': true };
  expect((await read(entries, changes, { bytes: 120, entries: 2 })).files).toHaveLength(2);
  await expect(read(entries, changes, { bytes: 119, entries: 2 })).rejects.toMatchObject({
    code: 'usage.sandbox_file',
  });
  await expect(read(entries, changes, { bytes: 120, entries: 1 })).rejects.toMatchObject({
    code: 'usage.sandbox_file',
  });
  const outside = read([entry({ name: 'app/../etc/passwd' }, 'x')], { '/etc/passwd': true });
  await expect(outside).rejects.toMatchObject({ code: 'usage.sandbox_file' });
});

test('an archive that is cut or whose sums are wrong is broken', async () => {
  const whole = await packTar([entry({ name: 'app/a' }, 'a'.repeat(600)), entry({ name: 'app/b' }, 'b')]);
  const changes = new Map([['/app/b', true]]);
  for (const cut of [1, 512, 1000, 1536, 2048])
    await expect(
      readChangedFiles(chunks(whole.subarray(0, cut), 100), '/app', changes, roomy),
    ).rejects.toMatchObject({
      code: 'infrastructure.sandbox',
    });
  const wrong = Buffer.from(whole);
  wrong[0] = 0x78;
  await expect(readChangedFiles(chunks(wrong, 100), '/app', changes, roomy)).rejects.toMatchObject({
    code: 'infrastructure.sandbox',
  });
});
