/** A trainer and two workers, which are killed, learn the demo's task for a few steps. */
import { readdir } from 'node:fs/promises';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { newFolder } from '../test/new-folder.ts';
import { killedRun } from './killed-run.ts';

test('two workers and a trainer: kills lose no episode, and none is learned from twice', async () => {
  const out = await newFolder();
  const small = {
    seed: 3,
    steps: 10,
    workers: 2,
    kills: 3,
    maxStaleness: 1,
    tasksPerStep: 4,
    groupSize: 4,
  };
  const run = await killedRun({ ...small, out });
  expect(run).toMatchObject({ kills: 3, episodes: 160, duplicates: 0, missing: 0, codes: [0, 0, 0] });
  expect(run.oldest).toBeLessThanOrEqual(1);
  expect(Object.keys(run.played).length).toBeGreaterThan(1);
  expect(await readdir(join(out, 'rollouts', 'groups'))).toEqual([]);
  expect(await readdir(join(out, 'run', 'policy'))).toContain('model.safetensors');
}, 600_000);
