/** A run is one experiment: what a resumed run may change, what it refuses, and what it records. */
import { existsSync } from 'node:fs';
import { mkdtemp, readdir, readFile, rm, truncate, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { changeableOptions, completeOptions, type TrainEvent } from '@toolenv/core/plugins';
import { afterEach, beforeEach, expect, test, vi } from 'vitest';
import { openLadder } from '../../../core/test/ladder-env.ts';
import { TableLearner, TablePolicy } from '../../../testing/test/table-model.ts';
import { grpo } from '../../../trainer-grpo/src/grpo.ts';
import { train } from '../../src/index.ts';
import { readChanges } from '../../src/runs.ts';

let folder: string;
let out: string;
beforeEach(async () => {
  folder = await mkdtemp(join(tmpdir(), 'identity-'));
  out = join(folder, 'run');
});
afterEach(() => rm(folder, { recursive: true }));

class Table extends TablePolicy {
  readonly learner = new TableLearner();
}

const options = { trainer: grpo, tasksPerStep: 2, groupSize: 2, maxTokens: 4, checkpointEvery: 1 };
type Given = Parameters<typeof train<Record<string, unknown>>>[0];

async function run(given: object): Promise<TrainEvent[]> {
  const events: TrainEvent[] = [];
  const all = { env: openLadder(), policy: new Table(), out, ...options, ...given } as unknown as Given;
  for await (const event of train(all)) events.push(event);
  return events;
}

const readConfig = async () => JSON.parse(await readFile(join(out, 'config.json'), 'utf8'));

test('only bookkeeping may change: how many steps, when to measure and save, and when to give up', async () => {
  const bookkeeping = {
    steps: 2,
    maxAborted: 0.5,
    evaluateEvery: 2,
    evaluateFirst: true,
    evaluationEpisodes: 3,
    evaluationSamples: 2,
    evaluationTemperature: 1,
    checkpointEvery: 2,
    keepCheckpoints: 2,
    klEvery: 1,
    patience: 0,
  };
  const trainer = completeOptions(grpo.options, {}, 'grpo');
  expect(changeableOptions(grpo.options, trainer).sort()).toEqual(Object.keys(bookkeeping).sort());
  await run({ steps: 1 });
  const events = await run({ ...bookkeeping, resume: true });
  expect(events.map(({ type, step }) => `${type} ${step}`)).toEqual([
    'rollout 2',
    'update 2',
    'evaluation 2',
    'checkpoint 2',
  ]);
  const { trainerOptions } = await readConfig();
  expect(trainerOptions).toMatchObject(bookkeeping);
});

test('the record has the values that the run chose for options without a default', async () => {
  const policy = new Table();
  const optimizer = vi.spyOn(policy.learner, 'step');
  await run({ policy, steps: 2, algorithm: 'dapo', zeroVariance: 'keep', entropyCoefficient: 0.1 });
  const { trainerOptions, resolvedOptions } = await readConfig();
  expect(trainerOptions).not.toHaveProperty('learningRate');
  expect(resolvedOptions).toEqual({
    ...{ scheduleSteps: 2, learningRate: 1e-6, mismatchCorrection: 'none', advantage: 'grpo', loss: 'dapo' },
    ...{ scaleRewards: 'group', clip: [0.2, 0.28], beta: 0, klIn: 'loss', klEstimator: 'k3' },
    truncated: 'mask',
  });
  expect(optimizer.mock.calls[0]![0].learningRate).toBe(resolvedOptions.learningRate);
});

test('every other option of the trainer is refused, with old and new', async () => {
  await run({ steps: 1 });
  const before = await readFile(join(out, 'config.json'), 'utf8');
  const others: Record<string, unknown> = {
    learningRate: 0.5,
    loss: 'bnpo',
    actionMask: false,
    advantageMask: false,
    shuffleRewards: true,
    temperature: 0.7,
    deadline: 5,
    clip: [0.1, 0.3],
  };
  for (const [name, value] of Object.entries(others))
    await expect(run({ steps: 2, resume: true, [name]: value })).rejects.toMatchObject({
      code: 'usage.other_run',
      message: expect.stringContaining(`trainerOptions.${name} `),
    });
  await expect(run({ steps: 2, resume: true, learningRate: 0.5, seed: 3, delta: 4 })).rejects.toThrow(
    `The run in ${out} differs: seed 1 → 3, trainerOptions.delta not set → 4, trainerOptions.learningRate not set → 0.5. Give the same values or another folder, or allow the change with --change (in code, change: true).`,
  );
  expect(await readFile(join(out, 'config.json'), 'utf8')).toBe(before);
  expect(await readdir(join(out, 'checkpoints'))).toEqual(['step-1']);
});

test('an allowed change is recorded, with old and new and its first step', async () => {
  await run({ steps: 2 });
  const original = await readConfig();
  await run({ steps: 3, resume: true, change: true, learningRate: 0.5, delta: 4 });
  await run({ steps: 3, resume: true, learningRate: 0.5, delta: 4 });
  await run({ steps: 4, resume: true, change: true, learningRate: 0.5 });
  expect(await readChanges(out)).toEqual([
    {
      step: 3,
      changes: {
        'trainerOptions.steps': { from: 2, to: 3 },
        'trainerOptions.learningRate': { to: 0.5 },
        'trainerOptions.delta': { to: 4 },
      },
    },
    {
      step: 4,
      changes: { 'trainerOptions.steps': { from: 3, to: 4 }, 'trainerOptions.delta': { from: 4 } },
    },
  ]);
  const config = await readConfig();
  const { learningRate: _, ...resolved } = original.resolvedOptions;
  expect(config).toEqual({
    ...original,
    trainerOptions: { ...original.trainerOptions, steps: 4, learningRate: 0.5 },
    resolvedOptions: { ...resolved, scheduleSteps: 4 },
  });
});

test('a change whose steps are played again is recorded with the step from which it then holds', async () => {
  const warn = vi.spyOn(process, 'emitWarning').mockImplementation(() => {});
  await run({ steps: 3 });
  await run({ steps: 4, resume: true, change: true, learningRate: 0.5 });
  // Two checkpoints are damaged: the run goes on from step 2.
  for (const step of [3, 4]) await truncate(join(out, `checkpoints/step-${step}/trainer_state.json`), 3);
  await run({ steps: 4, resume: true, learningRate: 0.5 });
  expect(await readChanges(out)).toEqual([
    {
      step: 3,
      changes: {
        'trainerOptions.steps': { from: 3, to: 4 },
        'trainerOptions.learningRate': { to: 0.5 },
      },
    },
  ]);
  expect(warn).toHaveBeenCalledTimes(2);
});

test('a change that played no step leaves no trace', async () => {
  await run({ steps: 1 });
  const before = await readConfig();
  const policy = new Table();
  policy.act = () => Promise.reject(new Error('no memory'));
  await expect(run({ steps: 2, resume: true, change: true, learningRate: 0.5, policy })).rejects.toThrow(
    'no memory',
  );
  expect(await readConfig()).toEqual(before);
  expect(existsSync(join(out, 'changes.jsonl'))).toBe(false);
});

test('other versions are no reason to refuse, and are recorded', async () => {
  const env = { ...openLadder(), ref: 'ladders/ladder-v1', packageVersion: '1.0.0' };
  await run({ steps: 1, env });
  const config = await readConfig();
  await writeFile(join(out, 'config.json'), JSON.stringify({ ...config, node: 'v1' }));
  await run({ steps: 1, resume: true, env: { ...env, packageVersion: '1.0.1' } });
  expect((await readConfig()).envVersion).toBe('1.0.0');
  await run({ steps: 2, resume: true, env: { ...env, packageVersion: '1.0.1' } });
  expect((await readConfig()).envVersion).toBe('1.0.1');
  expect((await readChanges(out))[0]).toMatchObject({
    step: 2,
    changes: { envVersion: { from: '1.0.0', to: '1.0.1' }, node: { from: 'v1', to: process.version } },
  });
});

test('checkpoints without config.json are not resumed unasked', async () => {
  await run({ steps: 1 });
  await rm(join(out, 'config.json'));
  await expect(run({ steps: 2, resume: true })).rejects.toMatchObject({
    code: 'usage.other_run',
    message: expect.stringMatching(/has checkpoints and no config\.json/),
  });
  expect(await run({ steps: 2, resume: true, change: true })).toHaveLength(3);
});

test('config.json and changes.jsonl that are damaged are one line', async () => {
  await run({ steps: 1 });
  await writeFile(join(out, 'changes.jsonl'), '{"step":1,"chan\n');
  await expect(run({ steps: 2, resume: true })).rejects.toMatchObject({
    code: 'usage.broken_record',
    message: expect.stringMatching(/changes\.jsonl:1 is damaged .*remove the line\.$/),
  });
  for (const content of ['', '{"env":', 'null', '[1]']) {
    await writeFile(join(out, 'config.json'), content);
    await expect(run({ steps: 2, resume: true })).rejects.toMatchObject({
      code: 'usage.other_run',
      message: expect.stringMatching(/config\.json is damaged \(.*\): start a run in another folder\.$/),
    });
  }
});

test('two runs at once: the second is refused, and the first is as if it had been alone', async () => {
  await run({ steps: 2, out: join(folder, 'alone') });
  const first = train({
    env: openLadder(),
    policy: new Table(),
    out,
    ...options,
    steps: 2,
  } as unknown as Given);
  await first.next();
  for (const given of [{}, { resume: true }])
    await expect(run({ steps: 2, ...given })).rejects.toMatchObject({
      code: 'usage.folder_in_use',
      message: expect.stringContaining(`The folder ${out} is in use by this process (${process.pid})`),
    });
  for await (const _ of first);
  const lines = async (of: string) =>
    (await readFile(join(of, 'metrics.jsonl'), 'utf8')).replace(
      /"((step_)?time|memory\/|tokens_per_second)[\w/]*":[\d.e-]+/g,
      '',
    );
  expect(await lines(out)).toBe(await lines(join(folder, 'alone')));
  expect((await readdir(out)).filter((name) => name.startsWith('lock'))).toEqual([]);
});

test('the lock is released however a run ends', async () => {
  const given = { env: openLadder(), policy: new Table(), out, ...options, steps: 3 } as unknown as Given;
  for await (const _ of train(given)) break;
  await expect(run({ resume: true, seed: 9 })).rejects.toMatchObject({ code: 'usage.other_run' });
  const stop = AbortSignal.abort(new Error('stopped'));
  await expect(run({ resume: true, steps: 3, signal: stop })).rejects.toThrow('stopped');
  expect(await run({ resume: true, steps: 3 })).toHaveLength(9);
});
