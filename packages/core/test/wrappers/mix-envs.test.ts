import { evaluate } from '@toolenv/training';
import fc from 'fast-check';
import { expect, test } from 'vitest';
import { collect, type EnvSpec, rollout, scriptedPolicy } from '../../src/index.ts';
import { mixEnvs } from '../../src/wrappers/index.ts';
import { LadderEnv, ladderSpec, openLadder, type Rung } from '../ladder-env.ts';

/** Climbs two rungs in each of two turns, then answers: right for the task whose goal is 4. */
const policy = scriptedPolicy((_seen, turn) =>
  turn < 2 ? [{ name: 'climb', arguments: { rungs: 2 } }] : 'done',
);
const sampling = { maxTokens: 8, temperature: 1 };

test('contains the tasks of all environments and plays each in its own environment', async () => {
  const [slow, short] = [openLadder(), openLadder(() => new LadderEnv(undefined, { maxTurns: 1 }))];
  const mix = mixEnvs<Rung>({ slow, short });
  expect(await mix.tasks.train.length).toBe(20);
  expect(await mix.tasks.train.get(3)).toEqual({ env: 'slow', task: { goal: 4 } });
  expect(await mix.tasks.train.get(13)).toEqual({ env: 'short', task: { goal: 4 } });
  await expect(mix.tasks.train.get(20)).rejects.toThrow('there are 20');

  const { spec } = mix.episode();
  expect(spec).toMatchObject({ name: 'ladder-v1+ladder-v1', limits: { maxTurns: 6 } });
  const episodes = [...Array(20).keys()].map((group) => ({
    task: mix.tasks.train.get(group),
    group,
    sample: 0,
  }));
  const played = await collect(rollout({ env: mix, policy, episodes, concurrency: 7, sampling, seed: 1 }));
  // Only the first environment allows enough turns for an answer; a height of 4 is right for one of its tasks.
  expect(played.map(({ outcome }) => outcome.kind)).toEqual([
    ...Array(10).fill('terminated'),
    ...Array(10).fill('truncated'),
  ]);
  expect(played.filter(({ rewards }) => rewards.right === 1).map(({ task }) => task)).toEqual([
    { env: 'slow', task: { goal: 4 } },
  ]);
  expect(slow.closed).toBe(slow.opened - 1);
});

test('the first validation tasks are of every environment, and each task comes once', async () => {
  const of = (length: number) => {
    const validation = { length, get: (index: number): Rung => ({ goal: index }) };
    const env = openLadder();
    return { ...env, tasks: { ...env.tasks, validation } };
  };
  await fc.assert(
    fc.asyncProperty(fc.array(fc.nat(7), { minLength: 1, maxLength: 4 }), async (lengths) => {
      const mix = mixEnvs<Rung>(
        Object.fromEntries(lengths.map((length, index) => [`env-${index}`, of(length)])),
      );
      const { validation } = mix.tasks;
      const length = await validation.length;
      expect(length).toBe(lengths.reduce((sum, length) => sum + length, 0));
      const all = await Promise.all(Array.from({ length }, (_, index) => validation.get(index)));
      const expected = Array.from({ length: 7 }, (_, goal) =>
        lengths.flatMap((length, index) => (goal < length ? [{ env: `env-${index}`, task: { goal } }] : [])),
      ).flat();
      expect(all).toEqual(expected);
      for (const bad of [-1, length])
        await expect(validation.get(bad)).rejects.toThrow(`there are ${length}`);
    }),
  );
});

test('can be evaluated on the tasks of all its environments', async () => {
  const mix = mixEnvs<Rung>({ one: openLadder(), other: openLadder() });
  const { episodes, means } = await evaluate({
    env: mix,
    split: 'train',
    policy,
    concurrency: 4,
  });
  expect({ episodes, right: means.right }).toEqual({ episodes: 20, right: 2 / 20 });
});

test('a reused Env plays in one environment after the other and closes both', async () => {
  const [one, other] = [openLadder(), openLadder()];
  const env = mixEnvs<Rung>({ one, other }).episode();
  await expect(async () => env.step({ text: '', toolCalls: [], stopReason: 'stop' })).rejects.toThrow(
    'reset()',
  );
  await env.reset({ task: { env: 'one', task: { goal: 1 } }, seed: 1 });
  await env.reset({ task: { env: 'other', task: { goal: 1 } }, seed: 1 });
  await env.close();
  expect([one.closed, other.closed]).toEqual([1, 1]);
});

test('is as concurrent as the least of its environments, and networked if any is', () => {
  const alone = { ...openLadder(), capabilities: { concurrent: false } };
  const online = { ...openLadder(), capabilities: { networked: true } };
  const few = { ...openLadder(), capabilities: { concurrent: 4 } };
  const atOnce = (envs: Parameters<typeof mixEnvs<Rung>>[0]) => mixEnvs<Rung>(envs).capabilities;
  const rest = { seedable: true, networked: true, remote: false };
  expect(atOnce({ alone, few, online })).toEqual({ ...rest, concurrent: 1 });
  expect(atOnce({ few, online })).toEqual({ ...rest, concurrent: 4 });
  expect(atOnce({ online, plain: openLadder() })).toEqual({ ...rest, concurrent: true });
});

test('refuses to mix no environments or environments with different rewards', () => {
  expect(() => mixEnvs({})).toThrow('no environments to mix');
  class Other extends LadderEnv {
    override readonly spec: EnvSpec = {
      ...ladderSpec,
      name: 'stairs-v1',
      rewards: { high: { kind: 'outcome', range: [0, 1], weight: 1 } },
    };
  }
  const stairs = openLadder(() => new Other());
  expect(() => mixEnvs<Rung>({ ladder: openLadder(), stairs })).toThrow(
    'ladder-v1 and stairs-v1 declare different rewards',
  );
});
