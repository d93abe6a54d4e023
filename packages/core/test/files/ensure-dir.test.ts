import { mkdtemp, rm, stat, symlink, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { ensureDir } from '@toolenv/core/files';
import { afterEach, beforeEach, expect, it } from 'vitest';

let folder: string;
beforeEach(async () => {
  folder = await mkdtemp(join(tmpdir(), 'make-folder-'));
});
afterEach(() => rm(folder, { recursive: true }));

it('makes a folder and its parents, also several times at once', async () => {
  const deep = join(folder, 'a/b/c');
  await Promise.all(Array.from({ length: 20 }, () => ensureDir(deep)));
  expect((await stat(deep)).isDirectory()).toBe(true);
  await ensureDir(deep);
});

it('refuses a file, a folder in a file and a link to nothing', async () => {
  await writeFile(join(folder, 'file'), '');
  await symlink(join(folder, 'nothing/x'), join(folder, 'link'));
  for (const path of ['file', 'file/x', 'link'])
    await expect(ensureDir(join(folder, path))).rejects.toMatchObject({
      code: 'usage.folder',
      message: expect.stringContaining(join(folder, path)),
    });
});

it.runIf(process.platform === 'linux')('ends where no folder can be made', async () => {
  for (const path of ['/proc/x', '/proc/x/y'])
    await expect(ensureDir(path)).rejects.toMatchObject({ code: 'usage.folder' });
});
