/** readStatus: whether a run goes on, and how it ended, from its folder alone. */
import { mkdtemp, readdir, readFile, rm, utimes, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { lockFolder } from '@toolenv/core/files';
import { registerSecret } from '@toolenv/core/secrets';
import { afterEach, beforeEach, expect, test } from 'vitest';
import { openLadder } from '../../../core/test/ladder-env.ts';
import { TableLearner, TablePolicy } from '../../../testing/test/table-model.ts';
import { defineTrainer, train } from '../../src/index.ts';
import { readStatus } from '../../src/runs.ts';

let out: string;
beforeEach(async () => {
  out = await mkdtemp(join(tmpdir(), 'run-end-'));
});
afterEach(() => rm(out, { recursive: true }));

class Table extends TablePolicy {
  readonly learner = new TableLearner();
}

/** Fails in its update of this number. */
const failing = (at: number, message: string) => {
  let updates = 0;
  return defineTrainer({
    name: 'failing',
    description: 'Fails',
    options: { type: 'object', properties: {} },
    defaults: { tasksPerStep: 1, groupSize: 2, maxTokens: 4, steps: 3 },
    create: () => ({
      async update() {
        updates += 1;
        if (updates === at) throw new Error(message);
        return { loss: 1 };
      },
    }),
  });
};

const run = (trainer: ReturnType<typeof failing>, more: object = {}) =>
  train({ env: openLadder(), policy: new Table(), trainer, out, ...more });

test('a run is running while its process holds the lock, and then done', async () => {
  const kinds = new Set<string>();
  for await (const _ of run(failing(0, ''))) kinds.add((await readStatus(out, false)).kind);
  expect([...kinds]).toEqual(['running']);
  expect(await readStatus(out, false)).toEqual({ kind: 'done' });
  expect(await readdir(out)).toContain('end.json');
});

test('a run that fails has crashed, and says why without secrets; resumed, it is done', async () => {
  registerSecret('sk-0123456789abcdef');
  const fails = async () => {
    for await (const _ of run(failing(2, 'no memory for sk-0123456789abcdef')));
  };
  await expect(fails()).rejects.toThrow('no memory');
  expect(await readStatus(out, false)).toEqual({ kind: 'crashed', why: 'no memory for [redacted]' });
  expect(await readFile(join(out, 'end.json'), 'utf8')).not.toContain('0123456789');
  for await (const _ of run(failing(0, ''), { resume: true }))
    expect((await readStatus(out, false)).kind).toBe('running');
  expect(await readStatus(out, false)).toEqual({ kind: 'done' });
});

test('a run that is left or aborted is stopped', async () => {
  for await (const { type } of run(failing(0, ''))) if (type === 'update') break;
  expect(await readStatus(out, false)).toEqual({ kind: 'stopped' });
});

test('without a recorded end, the lock and the steps decide', async () => {
  expect(await readStatus(out, true)).toEqual({ kind: 'done' });
  expect(await readStatus(out, false)).toEqual({ kind: 'stopped' });
  await writeFile(join(out, 'end.json'), '{"end": 3}');
  expect(await readStatus(out, true)).toEqual({ kind: 'done' });
  // Of another machine: its heartbeat is all that is known.
  const claim = join(out, 'lock-1-unknown-0123abcd@elsewhere');
  await writeFile(claim, '5');
  expect(await readStatus(out, false)).toEqual({ kind: 'running' });
  const minuteAgo = new Date(Date.now() - 60_000);
  await utimes(claim, minuteAgo, minuteAgo);
  expect(await readStatus(out, true)).toEqual({
    kind: 'crashed',
    why: 'Its process was killed, or ran out of memory.',
  });
  const lock = await lockFolder(join(out, 'own'));
  expect(await readStatus(join(out, 'own'), false)).toEqual({ kind: 'running' });
  await lock.release();
});
