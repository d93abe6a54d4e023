/** Recordings of calls and episodes on a full disk: one line that names the file. */
import { mkdtemp, readFile, rm, symlink } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, test } from 'vitest';
import { diskError, withDiskErrors } from '../../src/files/index.ts';
import { createRng, type Tool, type ToolContext, type Trajectory, text } from '../../src/index.ts';
import { appendTrajectory, recordTools } from '../../src/recording/index.ts';

let folder: string;
beforeEach(async () => {
  folder = await mkdtemp(join(tmpdir(), 'full-disk-'));
});
afterEach(() => rm(folder, { recursive: true }));

const error = (code: string, more: object = {}) => Object.assign(new Error(`${code}: no`), { code, ...more });

function fullDisk(file: string): object {
  return {
    code: 'infrastructure.disk',
    message: `${file} cannot be written (ENOSPC: no space left on device, write): make room on the disk.`,
  };
}

describe.runIf(process.platform === 'linux')('a full disk', () => {
  test('ends a recording, and every call after it', async () => {
    const file = join(folder, 'calls.jsonl');
    const press: Tool = {
      name: 'press',
      description: '',
      inputSchema: {},
      execute: async () => text('click'),
    };
    const [recording] = await recordTools([press], file);
    const context = (callIndex: number) =>
      ({
        signal: new AbortController().signal,
        rng: createRng(1),
        episodeId: 'e',
        callIndex,
      }) as unknown as ToolContext;
    await recording!.execute({}, context(0));
    const before = await readFile(file, 'utf8');
    expect(before.trimEnd().split('\n')).toHaveLength(2);
    await rm(file);
    await symlink('/dev/full', file);
    for (const index of [1, 2])
      await expect(recording!.execute({}, context(index))).rejects.toMatchObject(fullDisk(file));
    await expect(recording!.close!()).rejects.toMatchObject(fullDisk(file));
  });

  test('names the file of episodes', async () => {
    const file = join(folder, 'episodes.jsonl');
    await symlink('/dev/full', file);
    const trajectory = { steps: [], outcome: { kind: 'terminated', reason: 'answered' } };
    await expect(appendTrajectory(file, trajectory as unknown as Trajectory)).rejects.toMatchObject(
      fullDisk(file),
    );
  });
});

test('only errors of a disk or a folder are explained', async () => {
  const bug = new TypeError('undefined is not a function');
  await expect(withDiskErrors('file', () => Promise.reject(bug))).rejects.toBe(bug);
  expect(diskError(error('ENOSPC', { syscall: 'write', path: '/a' }))?.message).toBe(
    '/a cannot be written (ENOSPC: no): make room on the disk.',
  );
  // Without a path, it may be a file that cannot be read.
  expect(diskError(error('EACCES', { syscall: 'open' }))).toBeUndefined();
  expect(diskError(error('EACCES', { syscall: 'open' }), '/a')?.message).toBe(
    '/a cannot be written (EACCES: no): choose a folder that you may write.',
  );
  expect(diskError(error('ENOSPC'), '/a')).toBeUndefined();
});
