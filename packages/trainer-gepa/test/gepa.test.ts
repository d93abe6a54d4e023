import { existsSync } from 'node:fs';
import { mkdtemp, readFile, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { type EnvDefinition, openEnv, type Policy } from '@toolenv/core';
import type { TrainEvent } from '@toolenv/core/plugins';
import { readPrompts } from '@toolenv/core/recording';
import { withSkill } from '@toolenv/core/wrappers';
import { type GepaOptions, gepaWith } from '@toolenv/trainer-gepa';
import { evaluate, type RunOptions, readMetrics, train } from '@toolenv/training';
import { afterEach, beforeEach, describe, expect, test } from 'vitest';
import { readState } from '../src/read-state.ts';
import { dates, environments, obedient, order, reflecting, units } from './missing-rules.ts';

type Options = Partial<GepaOptions & RunOptions>;

let folder: string;
beforeEach(async () => {
  folder = await mkdtemp(join(tmpdir(), 'toolenv-gepa-'));
});
afterEach(() => rm(folder, { recursive: true, force: true }));

const small: Options = { episodes: 60, paretoTasks: 6, minibatch: 3, maxTokens: 64 };

async function run(
  definition: EnvDefinition<{ day: number }>,
  options: Options & { seed?: number; resume?: boolean } = {},
  { policy = obedient, reflection = reflecting(), out = join(folder, 'run') } = {} as {
    policy?: Policy;
    reflection?: Policy;
    out?: string;
  },
): Promise<TrainEvent[]> {
  await using env = await openEnv(definition);
  const events: TrainEvent[] = [];
  const trainer = gepaWith(reflection);
  for await (const event of train({ ...small, ...options, env, policy, trainer, out })) events.push(event);
  return events;
}

const updates = (events: readonly TrainEvent[]) =>
  events.flatMap((event) => (event.type === 'update' ? [event.metrics] : []));
const episodes = (events: readonly TrainEvent[]) =>
  events.flatMap((event) => (event.type === 'rollout' ? event.trajectories : []));

describe.each(environments.map((env) => [env.name, env] as const))('%s', (_, definition) => {
  test('the missing rule is found within 60 episodes, and the file of texts has it', async () => {
    const out = join(folder, 'run');
    const events = await run(definition, { seed: 1 });
    expect(episodes(events).length).toBeLessThanOrEqual(60);
    const prompts = await readPrompts(join(out, 'prompts.json'));
    await using before = await openEnv(definition);
    await using after = await openEnv(definition, {}, { prompts });
    const score = async (env: typeof before) =>
      (await evaluate({ env, policy: obedient, split: 'test' })).reward;
    expect(await score(before)).toBeLessThan(0.7);
    expect(await score(after)).toBe(1);
  });
});

test('the missing rule is found as the text of a skill, and the texts of the environment stay', async () => {
  const out = join(folder, 'run');
  await using env = await openEnv(dates);
  const skilled = withSkill(env, { name: 'dates', text: 'Write dates.' });
  const options: Options = { ...small, texts: ['skill'] };
  for await (const _ of train({
    ...options,
    seed: 1,
    env: skilled,
    policy: obedient,
    trainer: gepaWith(reflecting()),
    out,
  }));
  const { skill, ...others } = await readPrompts(join(out, 'prompts.json'));
  expect(others).toEqual(env.prompts);
  const score = async (text: string) => {
    const tested = withSkill(env, { name: 'dates', text });
    return (await evaluate({ env: tested, policy: obedient, split: 'test' })).reward;
  };
  expect(await score('Write dates.')).toBeLessThan(0.7);
  expect(await score(skill!)).toBe(1);
});

test('the folder has what other runs have, and the texts of every candidate', async () => {
  const out = join(folder, 'run');
  const events = await run(dates, { evaluateEvery: 2, bestMetric: 'reward' });
  for (const name of [
    'config.json',
    'metrics.jsonl',
    'trajectories.jsonl',
    'curves.svg',
    'reflections.jsonl',
  ])
    expect(existsSync(join(out, name)), name).toBe(true);
  expect(existsSync(join(out, 'policy'))).toBe(false);
  const types = events.slice(0, 3).map(({ type }) => type);
  expect(types).toEqual(['rollout', 'update', 'checkpoint']);
  const evaluations = events.filter(({ type }) => type === 'evaluation');
  expect(evaluations.length).toBeGreaterThan(0);
  const metrics = updates(events);
  expect(metrics[0]).toMatchObject({ 'prompts/candidates': 1, 'prompts/best': 0, 'prompts/episodes': 6 });
  const last = metrics.at(-1)!;
  expect(last['prompts/best']).toBe(1);
  expect(last['prompts/episodes']).toBe(episodes(events).length);
  const written = await readMetrics(out);
  expect(written.filter(({ type }) => type === 'update')).toHaveLength(metrics.length);
  for (const line of written) expect(line.metrics).not.toHaveProperty('frac_reward_zero_std');

  const checkpoint = events.filter((event) => event.type === 'checkpoint').at(-1)!;
  const state = JSON.parse(await readFile(join(checkpoint.folder, 'candidates.json'), 'utf8'));
  expect(state.candidates[0].prompts).toEqual({ system: 'You book tables.', hints: '' });
  expect(state.candidates.at(-1).prompts).not.toEqual(state.candidates[0].prompts);
  const ids = episodes(events).map(({ episodeId }) => episodeId);
  expect(new Set(ids).size).toBe(ids.length);
});

test('texts before and after a reflection play the same tasks with the same seeds, as groups', async () => {
  const events = await run(order, { seed: 3 });
  const compared = events.flatMap((event) => {
    if (event.type !== 'rollout') return [];
    const of = (part: string) => event.trajectories.filter(({ episodeId }) => episodeId.includes(part));
    return of('after').map((after, n) => [of('before')[n]!, after] as const);
  });
  expect(compared.length).toBeGreaterThan(0);
  for (const [before, after] of compared) {
    expect([after.task, after.seed, after.group]).toEqual([before.task, before.seed, before.group]);
    expect([before.sample, after.sample]).toEqual([0, 1]);
  }
});

test('equal seeds give equal runs, and another seed draws other tasks', async () => {
  const tasksOf = (events: readonly TrainEvent[]) => episodes(events).map(({ task }) => task);
  const [a, b, c] = await Promise.all(
    [1, 1, 2].map((seed, n) => run(order, { seed }, { out: join(folder, String(n)) })),
  );
  expect(tasksOf(a!)).toEqual(tasksOf(b!));
  expect(await readPrompts(join(folder, '0', 'prompts.json'))).toEqual(
    await readPrompts(join(folder, '1', 'prompts.json')),
  );
  expect(tasksOf(a!)).not.toEqual(tasksOf(c!));
});

test('only the chosen texts change', async () => {
  const out = join(folder, 'run');
  await run(dates, { texts: ['hints'] });
  const prompts = await readPrompts(join(out, 'prompts.json'));
  expect(prompts.system).toBe('You book tables.');
  expect(prompts.hints).toContain('Write date as YYYY-MM-DD.');
  const wrong = run(dates, { texts: ['hint'] }, { out: join(folder, 'wrong') });
  await expect(wrong).rejects.toMatchObject({ code: 'usage.unknown_prompt' });
});

test('without a reflection policy, the policy itself reflects', async () => {
  const both: Policy = {
    ...obedient,
    act: (observation, options) =>
      observation.messages[0]!.content.startsWith('You improve a text')
        ? reflecting({ useless: 0 }).act(observation, options)
        : obedient.act(observation, options),
  };
  await using env = await openEnv(units);
  const out = join(folder, 'run');
  const options = { ...small, episodes: 30 };
  for await (const _ of train({ ...options, env, policy: both, trainer: gepaWith(undefined), out }));
  expect((await readPrompts(join(out, 'prompts.json'))).system).toContain('with a unit');
});

test('a run that cannot be is refused with the remedy', async () => {
  const { prompts: _, ...bare } = units;
  const closed = {
    ...bare,
    open: async (options: never) => ({ ...(await units.open(options)), prompts: undefined }),
  };
  const code = (given: Promise<unknown>) =>
    given.then(
      () => 'ran',
      ({ code: c }: { code: string }) => c,
    );
  expect(await code(run(closed as never, {}, { out: join(folder, 'a') }))).toBe('usage.no_prompts');
  expect(await code(run(units, { episodes: 17 }, { out: join(folder, 'b') }))).toBe('usage.bad_option');
  expect(await code(run(units, { rollouts: folder } as never, { out: join(folder, 'c') }))).toBe('usage.run');
  expect(await code(run(units, { groupSize: 4 } as never, { out: join(folder, 'd') }))).toBe(
    'usage.unknown_option',
  );
});

test('scores on other tasks, and a state of another form, are refused', () => {
  const candidate = { prompts: { system: 'x' }, parent: null, scores: [1, null] };
  const state = { version: 1, episodes: 2, reflections: 0, candidates: [candidate] };
  expect(readState(JSON.stringify(state), 2)).toEqual(state);
  expect(() => readState(JSON.stringify(state), 3)).toThrow(
    'compared on 2 Pareto tasks, and now there are 3',
  );
  const wrong = { ...state, candidates: [{ ...candidate, prompts: { system: 5 } }] };
  expect(() => readState(JSON.stringify(wrong), 2)).toThrow('candidates.json: /candidates/0/prompts/system');
  expect(() => readState('null', 2)).toThrow('candidates.json: the whole file');
});
