/** overviewOf and findRuns: what the overview says of a run, without a browser. */
import { mkdir, mkdtemp, rm, symlink, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { MetricsLine } from '@toolenv/training';
import { afterEach, beforeEach, expect, test } from 'vitest';
import { overviewOf } from '../src/overview/run-overview.ts';
import { findRuns } from '../src/recorded/find-runs.ts';

let folder: string;
beforeEach(async () => {
  folder = await mkdtemp(join(tmpdir(), 'overview-'));
});
afterEach(() => rm(folder, { recursive: true }));

const line = (type: MetricsLine['type'], step: number, metrics: MetricsLine['metrics']): MetricsLine => ({
  type,
  step,
  metrics,
});
const training = (metrics: MetricsLine[], facts: object = {}) =>
  overviewOf({
    kind: 'training',
    folder,
    facts: { trainerOptions: { steps: 20 }, ...facts },
    metrics,
    episodes: 0,
  });

test('the time of a run is split, and what no metric names is other', async () => {
  const times = { 'time/generation': 3, 'time/environment': 1 };
  const { cost } = await training([
    line('rollout', 1, times),
    line('update', 1, { 'time/update': 2, 'time/checkpoint': 0.001, step_time: 10 }),
    line('rollout', 2, times),
    line('update', 2, { 'time/update': 2, step_time: 10 }),
  ]);
  expect(cost.seconds).toBe(20);
  expect(cost.parts).toEqual([
    { name: 'generation', seconds: 6 },
    { name: 'environment', seconds: 2 },
    { name: 'update', seconds: 4 },
    { name: 'other', seconds: 8 },
  ]);
});

test('the small curve has the score of the episodes, or the loss, in at most 32 points', async () => {
  const steps = (count: number, metrics: (step: number) => MetricsLine['metrics']) =>
    Array.from({ length: count }, (_, at) => line('rollout', at + 1, metrics(at + 1)));
  const { curve } = await training(steps(3, (step) => ({ reward: 9, 'rewards/em/mean': step / 4 })));
  expect(curve).toEqual([0.25, 0.5, 0.75]);
  const long = await training(steps(64, (step) => ({ reward: step })));
  expect(long.curve).toHaveLength(32);
  expect([long.curve[0], long.curve[31]]).toEqual([1.5, 63.5]);
  const losses = await training([line('update', 1, { loss: 2 }), line('update', 2, { loss: 1 })]);
  expect(losses.curve).toEqual([2, 1]);
  expect((await training([])).curve).toEqual([]);
});

test('the first and the last evaluation are compared, rightness first, and one has no before', async () => {
  const first = line('evaluation', 0, {
    reward: 0.2,
    'rewards/f1/mean': 0.3,
    'rewards/em/mean': 0.1,
    'pass@4': 0.5,
  });
  const last = line('evaluation', 8, {
    reward: 0.4,
    'reward/ci_low': 0.3,
    'reward/ci_high': 0.5,
    'rewards/em/mean': 0.25,
    'rewards/new/mean': 1,
  });
  const { scores } = await training([first, line('evaluation', 4, { reward: 9 }), last]);
  const change = (mean: number) => ({ mean: expect.closeTo(mean), isNoise: true });
  expect(scores).toEqual([
    { name: 'em', before: { step: 0, mean: 0.1 }, after: { step: 8, mean: 0.25 }, change: change(0.15) },
    {
      name: 'reward',
      before: { step: 0, mean: 0.2 },
      after: { step: 8, mean: 0.4, interval: [0.3, 0.5] },
      change: change(0.2),
    },
    { name: 'new', after: { step: 8, mean: 1 } },
  ]);
  const alone = await training([first]);
  expect(alone.scores.map(({ name, before }) => [name, before])).toEqual([
    ['em', undefined],
    ['reward', undefined],
    ['pass@4', undefined],
    ['f1', undefined],
  ]);
});

test('a run is done at its last step; a component may be called reward', async () => {
  const update = (step: number) => line('update', step, { loss: 1 });
  expect(await training([update(19)])).toMatchObject({
    status: { kind: 'stopped' },
    progress: { unit: 'step', done: 19, of: 20 },
    latest: [{ name: 'loss', mean: 1 }],
  });
  expect((await training([update(20)])).status).toEqual({ kind: 'done' });
  // As supervised fine-tuning has it: the data say how many steps there are.
  const open = await training([update(3)], { trainerOptions: { steps: 0 } });
  expect([open.status.kind, open.progress.of]).toEqual(['done', undefined]);
});

test('damaged records say less, and break nothing', async () => {
  const damaged = {
    reward: null,
    step_time: 'long',
    'time/update': null,
  } as unknown as MetricsLine['metrics'];
  const { cost, scores } = await training([line('update', 1, damaged), line('evaluation', 1, damaged)], {
    rewardSpec: 'none',
    causes: null,
  });
  expect([cost.parts, cost.seconds, scores]).toEqual([[], undefined, []]);
  const facts = { means: 'x', intervals: [1], pass: { at: 3 }, reward: 'high', count: -1 };
  const evaluated = await overviewOf({ kind: 'evaluation', folder, facts, metrics: [], episodes: 2 });
  expect(evaluated.scores).toEqual([]);
});

test('a change is noise where the interval of the difference holds 0, or where there is none', async () => {
  const evaluation = (step: number, mean: number, half?: number) =>
    line('evaluation', step, {
      'rewards/em/mean': mean,
      ...(half !== undefined && { 'rewards/em/ci_low': mean - half, 'rewards/em/ci_high': mean + half }),
      ...(step > 0 && { 'aborted/infrastructure.timeout': 0.25 }),
    });
  const change = async (first: number, last: number, half?: number) =>
    (await training([evaluation(0, first, half), evaluation(9, last, half)])).scores[0]!.change;
  expect(await change(0.4, 0.7, 0.2)).toEqual({ mean: expect.closeTo(0.3), isNoise: false });
  expect(await change(0.4, 0.6, 0.2)).toEqual({ mean: expect.closeTo(0.2), isNoise: true });
  expect(await change(0.9, 0.1)).toEqual({ mean: expect.closeTo(-0.8), isNoise: true });
  const { scores } = await training([evaluation(0, 0.4), evaluation(9, 0.4)]);
  expect(scores[0]).toMatchObject({ after: { aborted: { 'infrastructure.timeout': 0.25 } } });
  expect(scores[0]!.before).not.toHaveProperty('aborted');
});

test('an evaluation that goes on has episodes left, and one that ended says its causes', async () => {
  const facts = { count: 30, samples: 2 };
  const begun = await overviewOf({ kind: 'evaluation', folder, facts, metrics: [], episodes: 7 });
  expect([begun.status.kind, begun.progress]).toEqual(['stopped', { unit: 'episode', done: 7, of: 60 }]);
  const causes = { 'infrastructure.timeout: slow': 2 };
  const faults = { 'infrastructure.timeout': 3 };
  const ended = { ...facts, episodes: 60, causes, faults, reward: 0.5 };
  const done = await overviewOf({ kind: 'evaluation', folder, facts: ended, metrics: [], episodes: 60 });
  expect([done.status.kind, done.causes]).toEqual(['done', causes]);
  expect(done.scores[0]!.after.aborted).toEqual({ 'infrastructure.timeout': 0.05 });
});

test('the runs of a folder are found in its folders, links left aside, and none is an error', async () => {
  for (const path of ['a', 'experiment/b', 'experiment/deep/c', 'empty', 'too/deep/for/me']) {
    await mkdir(join(folder, path), { recursive: true });
    if (path !== 'empty') await writeFile(join(folder, path, 'metrics.jsonl'), '');
  }
  // A checkpoint within a run is no run, and a Hugging Face folder is none.
  await mkdir(join(folder, 'a/checkpoints/step-1'), { recursive: true });
  await writeFile(join(folder, 'empty/config.json'), '{"model_type": "llama"}');
  await symlink(folder, join(folder, 'loop'));
  expect(findRuns(folder)).toEqual([
    { path: join(folder, 'a'), name: 'a' },
    { path: join(folder, 'experiment/b'), name: 'experiment/b' },
    { path: join(folder, 'experiment/deep/c'), name: 'experiment/deep/c' },
  ]);
  expect(findRuns(join(folder, 'a'))).toEqual([{ path: join(folder, 'a'), name: '' }]);
  expect(() => findRuns(join(folder, 'empty'))).toThrow('is not a run folder');
  expect(() => findRuns(join(folder, 'none'))).toThrow('does not exist');
});
