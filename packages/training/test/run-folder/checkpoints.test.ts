/** Checkpoints: whole or not there, checked when they are read, and the one before a damaged one is used. */
import { execFileSync } from 'node:child_process';
import { mkdir, mkdtemp, readdir, readFile, rm, symlink, truncate, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { ToolEnvError } from '@toolenv/core';
import type { Learner } from '@toolenv/core/learner';
import { beforeEach, expect, type MockInstance, onTestFinished, test, vi } from 'vitest';
import { TableLearner } from '../../../testing/test/table-model.ts';
import { checkpointsOf } from '../../src/run-folder/checkpoints.ts';
import { resumeCheckpoint, saveCheckpoint } from '../../src/runs.ts';

const stepsOf = async (out: string) => (await checkpointsOf(out)).map(({ step }) => step);

let out: string;
let warn: MockInstance<typeof process.emitWarning>;
beforeEach(async () => {
  warn = vi.spyOn(process, 'emitWarning').mockImplementation(() => {});
  out = await mkdtemp(join(tmpdir(), 'toolenv-checkpoints-'));
});

/** Checkpoints of these steps, each with a table that begins with its step. */
async function saveSteps(...steps: number[]): Promise<TableLearner> {
  const learner = new TableLearner();
  for (const step of steps) {
    learner.table[0] = step;
    await saveCheckpoint(out, learner, { step, seed: 1 });
  }
  return learner;
}

const folderOf = (step: number) => join(out, 'checkpoints', `step-${step}`);

async function weightsFileOf(step: number): Promise<string> {
  const names = await readdir(folderOf(step));
  return join(folderOf(step), names.find((name) => name !== 'trainer_state.json')!);
}

test('keeps the last three checkpoints, and resumes the newest', async () => {
  const learner = await saveSteps(1, 2, 3, 4);
  expect(await stepsOf(out)).toEqual([2, 3, 4]);
  learner.table[0] = -1;
  expect(await resumeCheckpoint(out, learner)).toEqual({ step: 4, seed: 1 });
  expect(learner.table[0]).toBe(4);
  expect(warn).not.toHaveBeenCalled();
});

test('keeps as many as it is told, and the best beside them', async () => {
  const learner = new TableLearner();
  for (const step of [1, 2, 3, 4, 5])
    await saveCheckpoint(out, learner, { step, seed: 1 }, { keep: 1, best: Math.min(step, 2) });
  expect(await stepsOf(out)).toEqual([2, 5]);
  await saveCheckpoint(out, learner, { step: 6, seed: 1 }, { keep: 2, best: 6 });
  expect(await stepsOf(out)).toEqual([5, 6]);
});

test.runIf(process.platform === 'linux' && process.getuid?.() === 0)(
  'an old checkpoint that cannot be removed stays, is named once, and the run goes on',
  async () => {
    const learner = await saveSteps(1);
    // Nothing below a mount point can be removed, whoever one is.
    execFileSync('mount', ['--bind', folderOf(1), folderOf(1)]);
    onTestFinished(() => void execFileSync('umount', [folderOf(1)]));
    for (const step of [2, 3]) await saveCheckpoint(out, learner, { step, seed: 1 }, { keep: 1 });
    expect(await stepsOf(out)).toEqual([1, 3]);
    expect(warn.mock.calls.map(([message]) => message)).toEqual([
      expect.stringMatching(
        `^The old checkpoint ${folderOf(1)} cannot be removed \\(E[A-Z]+: .*\\): it stays\\.$`,
      ),
    ]);
  },
);

test('a checkpoint that cannot be written costs no other, however few are kept', async () => {
  const learner = new TableLearner();
  await saveCheckpoint(out, learner, { step: 1, seed: 1 }, { keep: 1, best: 1 });
  await saveCheckpoint(out, learner, { step: 2, seed: 1 }, { keep: 1, best: 1 });
  const full = { save: () => Promise.reject(new Error('no space left')) };
  await expect(saveCheckpoint(out, full, { step: 3, seed: 1 }, { keep: 1, best: 1 })).rejects.toMatchObject({
    code: 'infrastructure.checkpoint',
  });
  expect(await stepsOf(out)).toEqual([1, 2]);
  expect(await resumeCheckpoint(out, learner)).toMatchObject({ step: 2 });
});

test('the state of a saved checkpoint is replaced, and its weights stay', async () => {
  const learner = await saveSteps(1);
  learner.table[0] = 7;
  await saveCheckpoint(out, learner, { step: 1, seed: 1, memory: { bestStep: 1 } });
  const other = new TableLearner();
  expect(await resumeCheckpoint(out, other)).toEqual({ step: 1, seed: 1, memory: { bestStep: 1 } });
  expect(other.table[0]).toBe(1);
});

test('resumes nothing in a new folder', async () => {
  expect(await resumeCheckpoint(out, new TableLearner())).toBeUndefined();
});

test.each<[string, () => Promise<void>]>([
  [
    'a flipped bit',
    async () => {
      const file = await weightsFileOf(3);
      const bytes = await readFile(file);
      bytes[bytes.length >> 1]! ^= 1;
      await writeFile(file, bytes);
    },
  ],
  ['a file cut short', async () => truncate(await weightsFileOf(3), 10)],
  ['a state cut short', async () => truncate(join(folderOf(3), 'trainer_state.json'), 10)],
])('%s: the one before is used, and it is said', async (_, damage) => {
  const learner = await saveSteps(1, 2, 3);
  await damage();
  expect(await resumeCheckpoint(out, learner)).toEqual({ step: 2, seed: 1 });
  expect(learner.table[0]).toBe(2);
  expect(warn).toHaveBeenCalledExactlyOnceWith(
    expect.stringMatching(/step-3 is damaged \(.+\): resuming from step 2\.$/),
    'DamagedCheckpoint',
  );
  expect(await readdir(join(out, 'checkpoints'))).toContain('step-3.damaged');
  learner.table[0] = 33;
  await saveCheckpoint(out, learner, { step: 3, seed: 1 });
  expect(await resumeCheckpoint(out, learner)).toEqual({ step: 3, seed: 1 });
});

test.each<[string, (state: Record<string, unknown>) => unknown, string]>([
  [
    'a step that is text',
    (state) => ({ ...state, step: '3' }),
    'step: expected must be integer; received "3"',
  ],
  ['a step below 0', (state) => ({ ...state, step: -3 }), 'step: expected must be >= 0; received -3'],
  [
    'the step of another folder',
    (state) => ({ ...state, step: 7 }),
    "step: expected 3, from the folder's name; received 7",
  ],
  ['no seed', ({ seed: _, ...state }) => state, 'seed: expected'],
  [
    'memory that is text',
    (state) => ({ ...state, memory: { kl: '1' } }),
    'memory.kl: expected must be number; received "1"',
  ],
  ['memory that is infinite', (state) => ({ ...state, memory: { kl: 'Infinity' } }), 'memory.kl: expected'],
  ['no digests', (state) => ({ ...state, sha256: {} }), 'sha256: expected'],
  ['digests that are none', (state) => ({ ...state, sha256: { table: 'short' } }), 'sha256.table: expected'],
  ['no version', ({ version: _, ...state }) => state, 'version: expected'],
  ['null', () => null, 'the whole file: expected must be object; received null'],
  ['an array', () => [1], 'the whole file: expected must be object; received [1]'],
])(
  'a state with %s is damage: the field is named, and the one before is used',
  async (_, change, message) => {
    const learner = await saveSteps(1, 3);
    const file = join(folderOf(3), 'trainer_state.json');
    const text = JSON.stringify(change(JSON.parse(await readFile(file, 'utf8'))));
    await writeFile(file, text.replace('"Infinity"', '1e999'));
    expect(await resumeCheckpoint(out, learner)).toEqual({ step: 1, seed: 1 });
    expect(warn).toHaveBeenCalledExactlyOnceWith(
      expect.stringContaining(`step-3 is damaged (trainer_state.json: ${message}`),
      'DamagedCheckpoint',
    );
    expect(warn.mock.calls[0]![0]).not.toContain('\n');
  },
);

test('a file without a digest is damage: it may be of another step', async () => {
  const learner = await saveSteps(1, 3);
  await writeFile(join(folderOf(3), 'optimizer'), 'older');
  expect(await resumeCheckpoint(out, learner)).toEqual({ step: 1, seed: 1 });
  expect(warn).toHaveBeenCalledExactlyOnceWith(
    expect.stringContaining('step-3 is damaged (trainer_state.json: sha256.optimizer is missing)'),
    'DamagedCheckpoint',
  );
});

test.each([
  [
    'optimizer',
    'optimizer is missing',
    (file: string) => symlink(join(folderOf(1), 'trainer_state.json'), file),
  ],
  ['optimizer', 'optimizer is not a regular file', (file: string) => void execFileSync('mkfifo', [file])],
  [
    'trainer_state.json',
    'trainer_state.json is not a regular file',
    (file: string) => void execFileSync('mkfifo', [file]),
  ],
])('a checkpoint whose %s is damaged in this way is not used: %s', async (name, message, make) => {
  const learner = await saveSteps(1, 3);
  const file = join(folderOf(3), name);
  await rm(file, { force: true });
  await make(file);
  expect(await resumeCheckpoint(out, learner)).toEqual({ step: 1, seed: 1 });
  expect(warn).toHaveBeenCalledExactlyOnceWith(expect.stringContaining(message), 'DamagedCheckpoint');
});

test('a state of a later version stops the run, and stays', async () => {
  const learner = await saveSteps(1, 2);
  const file = join(folderOf(2), 'trainer_state.json');
  await writeFile(file, JSON.stringify({ version: 2, progress: 2 }));
  await expect(resumeCheckpoint(out, learner)).rejects.toMatchObject({
    code: 'usage.checkpoint_version',
    message: `${file}: version: a later toolenv wrote 2, and this toolenv reads 1: update toolenv.`,
  });
  expect(await stepsOf(out)).toEqual([1, 2]);
});

test('checks files that a learner keeps in subfolders', async () => {
  const learner = Object.assign(new TableLearner(), {
    async save(folder: string) {
      await TableLearner.prototype.save.call(learner, folder);
      await mkdir(join(folder, 'adapter'));
      await writeFile(join(folder, 'adapter', 'weights'), 'of the adapter');
    },
  });
  for (const step of [1, 2]) await saveCheckpoint(out, learner, { step, seed: 1 });
  await truncate(join(folderOf(2), 'adapter', 'weights'), 3);
  expect(await resumeCheckpoint(out, learner)).toEqual({ step: 1, seed: 1 });
});

test('throws if all checkpoints are damaged, and keeps the last', async () => {
  const learner = await saveSteps(1);
  await truncate(await weightsFileOf(1), 3);
  await expect(resumeCheckpoint(out, learner)).rejects.toMatchObject({
    code: 'usage.checkpoint_damaged',
    message: expect.stringContaining('start a new run'),
  });
  expect(await stepsOf(out)).toEqual([1]);
});

test('an error of the learner does not count as damage', async () => {
  await saveSteps(1, 2);
  const refusing = Object.assign(new TableLearner(), { load: () => Promise.reject(new Error('no room')) });
  await expect(resumeCheckpoint(out, refusing as Learner)).rejects.toThrow('no room');
  expect(await stepsOf(out)).toEqual([1, 2]);
});

test('a learner whose machine fails says what to do by itself', async () => {
  await saveSteps(1);
  const gone = new ToolEnvError('infrastructure.gone', 'The machine is gone: start it again.');
  const failing = Object.assign(new TableLearner(), { save: () => Promise.reject(gone) });
  await expect(saveCheckpoint(out, failing as Learner, { step: 2, seed: 1 })).rejects.toBe(gone);
  expect(await readdir(join(out, 'checkpoints'))).toEqual(['step-1']);
});

test.runIf(process.platform === 'linux')(
  'a full disk leaves what was there, and says what to do',
  async () => {
    const learner = await saveSteps(1);
    const full = Object.assign(new TableLearner(), {
      async save(folder: string) {
        // The device whose every write fails as that of a full disk does.
        await symlink('/dev/full', join(folder, 'weights'));
        await writeFile(join(folder, 'weights'), 'weights');
      },
    });
    await expect(saveCheckpoint(out, full as Learner, { step: 2, seed: 1 })).rejects.toMatchObject({
      code: 'infrastructure.checkpoint',
      message: expect.stringMatching(/step-2 cannot be written \(ENOSPC.*\): make room, then resume/),
    });
    expect(await readdir(join(out, 'checkpoints'))).toEqual(['step-1']);
    expect(await resumeCheckpoint(out, learner)).toEqual({ step: 1, seed: 1 });
  },
);
