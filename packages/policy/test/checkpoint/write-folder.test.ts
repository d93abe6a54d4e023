/** writeFolder: whole or as before, also on a full disk. */
import { mkdir, mkdtemp, readdir, readFile, rm, symlink, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, expect, test } from 'vitest';
import { writeFolder } from '../../src/checkpoint/write-folder.ts';

let folder: string;
beforeEach(async () => {
  folder = await mkdtemp(join(tmpdir(), 'write-folder-'));
});
afterEach(() => rm(folder, { recursive: true }));

test.runIf(process.platform === 'linux')('a full disk is one line, and keeps the earlier files', async () => {
  const fill = async (partial: string) => {
    await mkdir(partial, { recursive: true });
    await symlink('/dev/full', join(partial, 'weights'));
    await writeFile(join(partial, 'weights'), 'later');
  };
  for (const target of [join(folder, 'new'), folder]) {
    if (target === folder) await writeFile(join(folder, 'weights'), 'earlier');
    await expect(writeFolder(target, fill)).rejects.toMatchObject({
      code: 'infrastructure.disk',
      message: `${target} cannot be written (ENOSPC: no space left on device, write): make room on the disk.`,
    });
  }
  expect(await readdir(folder)).toEqual(['weights']);
  expect(await readFile(join(folder, 'weights'), 'utf8')).toBe('earlier');
});

test('a bug of the writer is no error of the disk', async () => {
  const bug = new TypeError('no weights');
  await expect(writeFolder(join(folder, 'new'), () => Promise.reject(bug))).rejects.toBe(bug);
});
