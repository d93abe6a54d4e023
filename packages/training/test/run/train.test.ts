/** train: its defaults, its errors, and the folder that it keeps. */
import { execFileSync } from 'node:child_process';
import { existsSync } from 'node:fs';
import { mkdtemp, readdir, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { CallProgress } from '@toolenv/core';
import type { TrainablePolicy } from '@toolenv/core/learner';
import type { TrainEvent, Trainer } from '@toolenv/core/plugins';
import { afterEach, beforeEach, expect, onTestFinished, test } from 'vitest';
import { LadderEnv, openLadder } from '../../../core/test/ladder-env.ts';
import { TableLearner, TablePolicy } from '../../../testing/test/table-model.ts';
import {
  type ConfigurableTrainer,
  defineTrainer,
  type RunOptions,
  readMetrics,
  train,
} from '../../src/index.ts';
import { withoutTimes } from '../timeless.ts';

let folder: string;
let out: string;
beforeEach(async () => {
  folder = await mkdtemp(join(tmpdir(), 'train-'));
  out = join(folder, 'run');
});
afterEach(() => rm(folder, { recursive: true }));

/** Makes every sampled token less likely. */
const forget: ConfigurableTrainer<{ rate: number } & RunOptions> = defineTrainer({
  name: 'forget',
  description: 'Forgets',
  options: {
    type: 'object',
    properties: { rate: { type: 'number', minimum: 0, default: 0.1, description: 'of learning' } },
  },
  defaults: { tasksPerStep: 3, groupSize: 2, maxTokens: 4 },
  create: ({ options: { rate }, optimize }) => ({
    async update({ rows }) {
      const dLogprobs = rows.map(({ mask }) => Float32Array.from(mask));
      const { gradNorm } = await optimize(rows, { dLogprobs }, { learningRate: rate });
      return { grad_norm: gradNorm };
    },
  }),
});

class Table extends TablePolicy implements TrainablePolicy {
  readonly learner = new TableLearner();
}

async function eventsOf(events: AsyncIterable<TrainEvent>): Promise<TrainEvent[]> {
  const seen: TrainEvent[] = [];
  for await (const event of events) seen.push(event);
  return seen;
}

const readConfig = async () => JSON.parse(await readFile(join(out, 'config.json'), 'utf8'));

/** Reports progress in each turn, as tools do. */
class ReportingLadder extends LadderEnv {
  #episodeId = '';

  override reset(options: Parameters<LadderEnv['reset']>[0]): ReturnType<LadderEnv['reset']> {
    this.#episodeId = options.episodeId!;
    return super.reset(options);
  }

  override step(...[action, options]: Parameters<LadderEnv['step']>): ReturnType<LadderEnv['step']> {
    options?.onProgress?.({ progress: 1, tool: 'climb', callIndex: 0, episodeId: this.#episodeId });
    return super.step(action, options);
  }
}

test('passes on the progress of tools, in training and in evaluations', async () => {
  const env = openLadder(() => new ReportingLadder());
  const reports: CallProgress[] = [];
  const options = { steps: 1, evaluateFirst: true, evaluationEpisodes: 1 };
  const onProgress = (report: CallProgress) => void reports.push(report);
  await eventsOf(train({ env, policy: new Table(), trainer: forget(options), out, onProgress }));
  // One turn at least of an episode of the evaluation, and of six episodes of the step.
  expect(new Set(reports.map(({ episodeId }) => episodeId)).size).toBe(7);
});

test('keeps a folder with config, metrics, episodes, curves, checkpoints and the policy', async () => {
  const policy = new Table();
  const save = policy.learner.save.bind(policy.learner);
  policy.learner.save = async (to) => {
    await save(to);
    await writeFile(join(to, 'optimizer.safetensors'), 'state');
  };
  const run = { env: openLadder(), policy, trainer: forget({ rate: 0.2 }), out, tensorboard: true };
  const events = await eventsOf(train({ ...run, steps: 3, checkpointEvery: 2 }));
  expect(events.map(({ type, step }) => `${type} ${step}`)).toEqual([
    'rollout 1',
    'update 1',
    'rollout 2',
    'update 2',
    'checkpoint 2',
    'rollout 3',
    'update 3',
    'checkpoint 3',
  ]);
  expect((await readdir(out)).sort()).toEqual([
    'checkpoints',
    'config.json',
    'curves.svg',
    'end.json',
    'metrics.jsonl',
    'policy',
    'tensorboard',
    'trajectories.jsonl',
  ]);
  expect(await readdir(join(out, 'policy'))).toEqual(['table.json']);
  const lines = await readMetrics(out);
  expect(lines.map(({ type, step }) => `${type} ${step}`)).toEqual(
    events.filter(({ type }) => type !== 'checkpoint').map(({ type, step }) => `${type} ${step}`),
  );
  const episodes = (await readFile(join(out, 'trajectories.jsonl'), 'utf8')).trimEnd().split('\n');
  expect(episodes.map((line) => JSON.parse(line).step)).toEqual(
    [1, 2, 3].flatMap((step) => Array(6).fill(step)),
  );
  const chart = await readFile(join(out, 'curves.svg'), 'utf8');
  expect(chart).toContain('<title>forget on ladder-v1, seed 1</title>');
  // Reward and score, and the times, with a point for each step.
  const points = [...chart.matchAll(/points="([^"]+)"/g)].map(([, line]) => line!.split(' ').length);
  expect(new Set(points)).toEqual(new Set([3]));
  expect(points.length).toBeGreaterThan(4);
  for (const name of ['reward', 'time']) expect(chart).toContain(`<title>${name}</title>`);
});

test('writes what ran, and with which versions', async () => {
  const env = { ...openLadder(), ref: 'ladders/ladder-v1', packageVersion: '1.2.3', options: { height: 9 } };
  await eventsOf(train({ env, policy: new Table(), trainer: forget, out, steps: 1, seed: 5 }));
  const config = await readConfig();
  expect(config).toMatchObject({
    env: 'ladders/ladder-v1',
    envVersion: '1.2.3',
    envOptions: { height: 9 },
    policy: 'table',
    trainer: 'forget',
    seed: 5,
    trainerOptions: { steps: 1, rate: 0.1, tasksPerStep: 3, groupSize: 2, temperature: 1, deadline: 600_000 },
    node: process.version,
  });
  const { version } = JSON.parse(await readFile(join(import.meta.dirname, '../../package.json'), 'utf8'));
  expect(config.packages).toMatchObject({ '@toolenv/core': version, '@toolenv/training': version });
  const head = execFileSync('git', ['rev-parse', 'HEAD'], { encoding: 'utf8' }).trim();
  expect(config.commit.replace(/-dirty$/, '')).toBe(head);
});

test('options of the run win over those of the configured trainer, and these over the defaults', async () => {
  const trainer = forget({ rate: 0.5, steps: 7 });
  await eventsOf(train({ env: openLadder(), policy: new Table(), trainer, out, steps: 1 }));
  expect((await readConfig()).trainerOptions).toMatchObject({ steps: 1, rate: 0.5, groupSize: 2 });
  expect([trainer.name, trainer.description]).toEqual(['forget', 'Forgets']);
  expect(trainer.options.properties).toMatchObject({ rate: { default: 0.5 }, steps: { default: 7 } });
  expect(forget.options.properties).toMatchObject({ rate: { default: 0.1 }, steps: { default: 100 } });
  expect(trainer({ rate: 0.6 }).options.properties).toMatchObject({
    rate: { default: 0.6 },
    steps: { default: 7 },
  });
});

test('makes a fresh folder, named after the environment and the time', async () => {
  const before = process.cwd();
  process.chdir(folder);
  onTestFinished(() => process.chdir(before));
  const run = { env: openLadder(), trainer: forget, steps: 1 };
  await eventsOf(train({ ...run, policy: new Table() }));
  await eventsOf(train({ ...run, policy: new Table() }));
  const runs = await readdir(join(folder, 'runs'));
  expect(runs).toHaveLength(2);
  for (const name of runs) expect(name).toMatch(/^ladder-v1-\d{4}-\d\d-\d\d-\d{6}(-2)?$/);
});

test('a run that is stopped and resumed has the bits and lines of one that ran through', async () => {
  const whole = new Table();
  const run = { env: openLadder(), trainer: forget, steps: 5, checkpointEvery: 2 };
  await eventsOf(train({ ...run, policy: whole, out: join(folder, 'whole') }));

  const stop = new AbortController();
  const stopped = eventsOf(
    (async function* () {
      for await (const event of train({ ...run, policy: new Table(), out, signal: stop.signal })) {
        if (event.type === 'rollout' && event.step === 4) stop.abort(new Error('stopped'));
        yield event;
      }
    })(),
  );
  await expect(stopped).rejects.toThrow('stopped');
  expect(await readdir(join(out, 'checkpoints'))).toContain('step-3');

  // Another version of a package must not refuse the run.
  const config = await readConfig();
  await writeFile(
    join(out, 'config.json'),
    JSON.stringify({ ...config, node: 'v1', commit: 'abc', packages: {} }),
  );
  const resumed = new Table();
  await eventsOf(train({ ...run, policy: resumed, out, resume: true }));
  expect(await readConfig()).toEqual(config);
  expect(resumed.learner.table).toEqual(whole.learner.table);
  const lines = async (of: string, file: string) => withoutTimes(await readFile(join(of, file), 'utf8'));
  for (const file of ['metrics.jsonl', 'trajectories.jsonl'])
    expect(await lines(out, file)).toBe(await lines(join(folder, 'whole'), file));
});

test('refuses to resume with another agent, unless the change is allowed', async () => {
  const env = (sha256: string) => ({ ...openLadder(), identity: { agent: { entry: 'agent.ts', sha256 } } });
  const run = { policy: new Table(), trainer: forget, out, resume: true };
  await eventsOf(train({ ...run, env: env('a'), steps: 1, resume: false }));
  expect((await readConfig()).envIdentity).toEqual({ agent: { entry: 'agent.ts', sha256: 'a' } });
  await expect(eventsOf(train({ ...run, env: env('b'), steps: 2 }))).rejects.toThrow('envIdentity.agent {');
  await eventsOf(train({ ...run, env: env('b'), steps: 2, change: true }));
  expect((await readConfig()).envIdentity).toEqual({ agent: { entry: 'agent.ts', sha256: 'b' } });
});

test('refuses a used folder, and to resume another run', async () => {
  const run = { env: openLadder(), policy: new Table(), trainer: forget, out };
  await eventsOf(train({ ...run, steps: 1 }));
  await expect(eventsOf(train({ ...run, steps: 1 }))).rejects.toMatchObject({
    code: 'usage.out_not_empty',
    message: `The folder ${out} is not empty: choose another folder, or resume its run with --resume (in code, resume: true).`,
  });
  await expect(eventsOf(train({ ...run, resume: true, seed: 2 }))).rejects.toMatchObject({
    code: 'usage.other_run',
    message: `The run in ${out} differs: seed 1 → 2. Give the same values or another folder, or allow the change with --change (in code, change: true).`,
  });
  const others = [
    { env: { ...run.env, options: { height: 3 } } },
    { env: { ...run.env, tools: { search: 'shelf/search-v1' } } },
    { trainer: { ...forget, name: 'other', options: forget.options, train: forget.train } as Trainer },
    { identity: { tool: ['search=another'] } },
  ];
  for (const other of others)
    await expect(eventsOf(train({ ...run, ...other, resume: true }))).rejects.toMatchObject({
      code: 'usage.other_run',
    });
  // More steps are the same run.
  expect((await eventsOf(train({ ...run, steps: 2, resume: true }))).at(-1)).toMatchObject({ step: 2 });
});

test('a run that fails before its first step may be tried again in its folder', async () => {
  const policy = new Table();
  const act = policy.act;
  policy.act = () => Promise.reject(new Error('no memory'));
  const run = { env: openLadder(), policy, trainer: forget, out, steps: 1 };
  await expect(eventsOf(train(run))).rejects.toThrow('no memory');
  expect(existsSync(join(out, 'config.json'))).toBe(false);
  policy.act = act;
  expect(await eventsOf(train(run))).toHaveLength(3);
});

test.each([
  ['no environment', { env: undefined }, 'usage.run', /^train: needs env: open one with await openEnv\(/],
  [
    'a forgotten await',
    { env: Promise.resolve() },
    'usage.run',
    /^train: env is a promise, which lacks an await: /,
  ],
  ['no policy', { policy: undefined }, 'usage.run', /^train: needs policy: open one with await loadPolicy\(/],
  [
    'a policy without a learner',
    { policy: new TablePolicy() },
    'usage.not_trainable',
    /^The policy table has no learner .* loadPolicy\(/,
  ],
  [
    'an option that nobody has',
    { stepz: 3 },
    'usage.unknown_option',
    /^train: forget has no option "stepz"\. Did you mean "steps"\?$/,
  ],
  [
    'constrained calls',
    { constrainCalls: true },
    'usage.constrain_calls',
    /^train: constrained calls .* trainer uses: leave constrainCalls out, and evaluate /,
  ],
  ['a misspelt setting', { sed: 3 }, 'usage.unknown_option', /Did you mean "seed"\?$/],
  [
    'a wrong value',
    { steps: 0 },
    'usage.bad_option',
    /^forget: option "steps": expected must be >= 1; received 0\.$/,
  ],
  ['a change of a run that does not go on', { change: true }, 'usage.run', /give resume too/],
  ['a wrong seed', { seed: -1 }, 'usage.bad_option', /^train: option "seed"/],
  ['a resume without its folder', { resume: true, out: undefined }, 'usage.run', /resume needs out/],
  [
    'an object that is not a trainer',
    { trainer: {} },
    'usage.run',
    /^train: trainer is not a trainer: give grpo\(/,
  ],
  [
    'a trainer that is not installed',
    { trainer: '@toolenv/trainer-nowhere/far-v1' },
    'usage.unknown_plugin',
    /Package @toolenv\/trainer-nowhere is not installed: npm install @toolenv\/trainer-nowhere$/,
  ],
])('refuses %s with the remedy, and makes no folder', async (_what, wrong, code, message) => {
  const run = { env: openLadder(), policy: new Table(), trainer: forget, out };
  const events = train({ ...run, ...wrong } as unknown as Parameters<typeof train>[0]);
  await expect(events.next()).rejects.toMatchObject({ code, message: expect.stringMatching(message) });
  expect(existsSync(out)).toBe(false);
});

test('a trainer is configured with options that it has', () => {
  const unknown = forget as unknown as (options: object) => void;
  expect(() => unknown({ rat: 1 })).toThrow('forget has no option "rat". Did you mean "rate"?');
  expect(() => forget({ rate: -1 })).toThrow('forget: option "rate": expected must be >= 0; received -1.');
});

test.each<[string, RegExp, object]>([
  ['of an unknown type', /forget breaks TRN-2: its event has the type "epoch"/, { type: 'epoch', step: 1 }],
  ['without a step', /TRN-2: the step of its update is undefined/, { type: 'update', metrics: {} }],
  ['without metrics', /TRN-3: the metrics of update 1 are not numbers/, { type: 'update', step: 1 }],
  ['with a text as a metric', /TRN-3: metric "loss"/, { type: 'update', step: 1, metrics: { loss: '1' } }],
  [
    'with tokens of no episode',
    /TRN-3: the tokens of update 1/,
    { type: 'update', step: 1, metrics: {}, tokens: [{ turns: [] }] },
  ],
  ['without trajectories', /TRN-4: rollout 1/, { type: 'rollout', step: 1, metrics: {} }],
])('an event %s is a bug of the trainer, and is not written', async (_, message, event) => {
  const odd: Trainer = {
    name: 'forget',
    description: 'Odd',
    options: forget.options,
    async *train() {
      yield event as TrainEvent;
    },
  };
  const events = train({ env: openLadder(), policy: new Table(), trainer: odd, out, steps: 1 });
  await expect(eventsOf(events)).rejects.toMatchObject({
    code: 'bug.trainer',
    message: expect.stringMatching(message),
  });
  expect(existsSync(join(out, 'metrics.jsonl'))).toBe(false);
});

/** Counts its steps, and keeps what it was asked for. */
function counting(asked: object[], steps?: number): ConfigurableTrainer<RunOptions> {
  return defineTrainer({
    name: 'counting',
    description: 'Counts',
    learnsFrom: 'data',
    options: { type: 'object', properties: {} },
    create: () => ({
      ...(steps !== undefined && { steps }),
      learn: async (at) => {
        asked.push(at);
        return { loss: at.step };
      },
      evaluate: async () => ({ loss: 0.5 }),
    }),
  });
}

test('a trainer that learns from data needs no environment, has no rollouts, and says how many steps there are', async () => {
  const asked: object[] = [];
  const run = { policy: new Table(), trainer: counting(asked, 2), out, seed: 4 };
  const events = await eventsOf(train({ ...run, evaluateEvery: 2 }));
  expect(events.map(({ type, step }) => `${type} ${step}`)).toEqual([
    'update 1',
    'update 2',
    'evaluation 2',
    'checkpoint 2',
  ]);
  expect(events[1]).toMatchObject({ of: 2, metrics: { loss: 1 } });
  expect(events[2]).toMatchObject({ metrics: { loss: 0.5 } });
  expect(await readConfig()).not.toHaveProperty('env');

  // A step learns the same whenever it runs.
  const again: object[] = [];
  const one = { ...run, trainer: counting(again), out: join(folder, 'again') };
  await eventsOf(train({ ...one, steps: 1 }));
  await eventsOf(train({ ...one, steps: 2, resume: true }));
  expect(again).toEqual(asked);
});

test('a trainer that learns from data has no options of rollouts', async () => {
  const trainer = counting([]);
  expect(Object.keys(trainer.options.properties as object)).not.toContain('groupSize');
  const events = train({ policy: new Table(), trainer, out, groupSize: 4 });
  await expect(eventsOf(events)).rejects.toMatchObject({ code: 'usage.unknown_option' });
});

test('a trainer that plays episodes refuses a run without an environment', async () => {
  const events = train({ policy: new Table(), trainer: forget, out });
  await expect(eventsOf(events)).rejects.toMatchObject({ code: 'usage.run' });
});
