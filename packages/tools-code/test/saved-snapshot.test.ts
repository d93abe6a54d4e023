/** The file from which interpreters of other processes begin. */
import { execFileSync } from 'node:child_process';
import {
  copyFile,
  mkdir,
  mkdtemp,
  readdir,
  readFile,
  rm,
  stat,
  truncate,
  utimes,
  writeFile,
} from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { afterEach, beforeEach, expect, test, vi } from 'vitest';
import { readSnapshot, type SnapshotFile, saveSnapshot, snapshotFile } from '../src/python/saved-snapshot.ts';

let folder: string;
let file: SnapshotFile;
beforeEach(async () => {
  folder = await mkdtemp(join(tmpdir(), 'snapshot-'));
  vi.stubEnv('XDG_CACHE_HOME', folder);
  file = await snapshotFile();
});
afterEach(() => rm(folder, { recursive: true }));

function memory(bytes: number): Uint8Array {
  return Uint8Array.from({ length: bytes }, (_, i) => i % 251);
}

const read = async () => {
  const memory = await readSnapshot(file);
  return memory && [...memory];
};

test('a saved snapshot is read back, in the folder of caches, which only the user may read', async () => {
  expect(await read()).toBeUndefined();
  await saveSnapshot(file, memory(1000));
  expect(await read()).toEqual([...memory(1000)]);
  expect(dirname(file.path)).toBe(join(folder, 'toolenv'));
  expect(await readdir(join(folder, 'toolenv'))).toHaveLength(1);
  for (const path of [file.path, dirname(file.path)]) expect((await stat(path)).mode & 0o077, path).toBe(0);
});

test('each version of V8 has a snapshot of its own', async () => {
  const versions = { value: { ...process.versions, v8: '13.6.233.17-node.49' } };
  vi.stubGlobal('process', Object.create(process, { versions }));
  const other = await snapshotFile();
  expect(other.key).not.toBe(file.key);
  expect(other.path).not.toBe(file.path);
  vi.unstubAllGlobals();
  expect(await snapshotFile()).toEqual(file);
});

test('a damaged snapshot, and that of another interpreter, are not read', async () => {
  await saveSnapshot(file, memory(1000));
  const whole = await readFile(file.path);
  for (const at of [0, 31, 32, 1031]) {
    const damaged = Buffer.from(whole);
    damaged[at]! ^= 1;
    await writeFile(file.path, damaged);
    expect(await read(), `byte ${at}`).toBeUndefined();
  }
  for (const length of [0, 20, 32, 500]) {
    await writeFile(file.path, whole);
    await truncate(file.path, length);
    expect(await read(), `${length} bytes`).toBeUndefined();
  }
  await saveSnapshot(file, memory(1000));
  const other = { path: join(folder, 'other'), key: 'other' };
  await copyFile(file.path, other.path);
  expect(await readSnapshot(other)).toBeUndefined();
  expect(await read()).toHaveLength(1000);
});

test.skipIf(process.platform === 'win32')('a pipe in its place is not waited for', async () => {
  await mkdir(dirname(file.path), { recursive: true });
  execFileSync('mkfifo', [file.path]);
  expect(await read()).toBeUndefined();
});

test('writers at once leave one whole file, and nothing else', async () => {
  const sizes = [10, 1000, 100_000];
  await Promise.all(sizes.map((size) => saveSnapshot(file, memory(size))));
  expect(sizes).toContain((await read())!.length);
  expect(await readdir(dirname(file.path))).toHaveLength(1);
});

test('where no file can be written, nothing is thrown and nothing is left', async () => {
  await writeFile(join(folder, 'toolenv'), 'a file');
  await saveSnapshot(file, memory(10));
  expect(await read()).toBeUndefined();
  await rm(join(folder, 'toolenv'));
  await mkdir(file.path, { recursive: true });
  await saveSnapshot(file, memory(10));
  expect(await readdir(dirname(file.path))).toHaveLength(1);
  expect(await read()).toBeUndefined();
});

test('snapshots that were not used for a month go when one is made, and others stay', async () => {
  await saveSnapshot(file, memory(10));
  const of = (name: string) => join(dirname(file.path), name);
  for (const name of ['python-0.1-old', 'python-0.2-used', 'settings']) await writeFile(of(name), 'x');
  const long = new Date(Date.now() - 40 * 24 * 3600 * 1000);
  for (const name of ['python-0.1-old', 'settings']) await utimes(of(name), long, long);
  await utimes(file.path, long, long);
  // Use keeps a file: without it, this one would be as old.
  await read();
  await saveSnapshot({ ...file, path: of('python-0.3-new') }, memory(10));
  expect((await readdir(dirname(file.path))).sort()).toEqual(
    [file.path.slice(dirname(file.path).length + 1), 'python-0.2-used', 'python-0.3-new', 'settings'].sort(),
  );
});
