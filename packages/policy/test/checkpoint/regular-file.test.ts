/** Files of a checkpoint are regular files of a bounded size: nothing hangs on a pipe or reads a device without end. */
import { execFileSync } from 'node:child_process';
import { rename, rm, symlink, truncate } from 'node:fs/promises';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { readCheckpoint, writeCheckpoint } from '../../src/checkpoint/checkpoint.ts';
import { tokenTexts } from '../../src/checkpoint/token-texts.ts';
import { inTemporaryFolder } from '../tiny-model.ts';
import { wordCheckpoint } from '../word-checkpoint.ts';

const refused = (file: string) => ({
  code: 'usage.checkpoint_damaged',
  message: `${file} is not a regular file: copy the whole checkpoint again.`,
});

function withCheckpoint(use: (folder: string) => Promise<void>): Promise<void> {
  return inTemporaryFolder(async (folder) => {
    await writeCheckpoint(folder, wordCheckpoint());
    await use(folder);
  });
}

test.each(['config.json', 'tokenizer.json', 'model.safetensors'])('%s that is a pipe is refused', (name) =>
  withCheckpoint(async (folder) => {
    const file = join(folder, name);
    await rm(file);
    execFileSync('mkfifo', [file]);
    await expect(readCheckpoint(folder)).rejects.toMatchObject(refused(file));
    if (name === 'tokenizer.json') await expect(tokenTexts(folder)).rejects.toMatchObject(refused(file));
  }),
);

test('a link to a device is refused, and a link to a file is read', () =>
  withCheckpoint(async (folder) => {
    const file = join(folder, 'config.json');
    await rename(file, join(folder, 'blob'));
    await symlink('blob', file);
    await readCheckpoint(folder);
    await rm(file);
    await symlink('/dev/zero', file);
    await expect(readCheckpoint(folder)).rejects.toMatchObject(refused(file));
  }));

test('a file of gigabytes is refused before memory is taken', () =>
  withCheckpoint(async (folder) => {
    await truncate(join(folder, 'config.json'), 2 ** 31);
    await expect(readCheckpoint(folder)).rejects.toMatchObject({
      code: 'usage.checkpoint_damaged',
      message: expect.stringMatching(/config\.json has 2147483648 bytes, and at most 134217728 are read/),
    });
  }));
