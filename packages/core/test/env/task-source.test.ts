/** Tasks as an author gives them, and what is read of them and kept. */
import { readdirSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { describe, expect, expectTypeOf, test, vi } from 'vitest';
import {
  collect,
  defineToolEnv,
  openEnv,
  rollout,
  scriptedPolicy,
  type TaskSet,
  type TaskSources,
  taskSets,
} from '../../src/index.ts';
import { keptMemory } from '../kept-memory.ts';
import { openLadder, type Rung } from '../ladder-env.ts';

async function* counting(count: number, read: number[] = []) {
  for (let i = 0; i < count; i++) {
    read.push(i);
    yield { number: i };
  }
}

describe('a split is read when it is used', () => {
  test('streams and functions of other splits are left alone', async () => {
    const read: number[] = [];
    let calls = 0;
    const tasks = taskSets({
      train: counting(5, read),
      validation: () => {
        calls += 1;
        return Promise.resolve([{ number: 7 }]);
      },
      test: () => counting(3),
    });
    expect(await tasks.test.length).toBe(3);
    expect([calls, read]).toEqual([0, []]);
    expect(await tasks.validation.get(0)).toEqual({ number: 7 });
    expect(await tasks.validation.length).toBe(1);
    expect([calls, read]).toEqual([1, []]);
    expect(await Promise.all([4, 0, 4].map((index) => tasks.train.get(index)))).toEqual(
      [4, 0, 4].map((number) => ({ number })),
    );
    expect(read).toEqual([0, 1, 2, 3, 4]);
  });

  test('lengths and tasks may be promises, and an index that is none is refused', async () => {
    const { test: tasks } = taskSets({
      test: { length: Promise.resolve(2), get: async (index: number) => `task ${index}` },
    });
    expectTypeOf(tasks).toEqualTypeOf<TaskSet<string>>();
    expect([await tasks.length, await tasks.get(1)]).toEqual([2, 'task 1']);
    for (const index of [2, -1, 0.5])
      await expect(tasks.get(index)).rejects.toMatchObject({ code: 'usage.task_index' });
  });

  test('an episode begins when its task is there', async () => {
    const env = openLadder();
    const episodes = [1, 2].map((goal) => ({ task: Promise.resolve({ goal }), group: goal, sample: 0 }));
    const policy = scriptedPolicy(['no']);
    const sampling = { maxTokens: 8, temperature: 0 };
    const played = await collect(rollout<Rung>({ env, policy, episodes, concurrency: 2, sampling, seed: 1 }));
    expect(played.map(({ task }) => task)).toEqual([{ goal: 1 }, { goal: 2 }]);
    const broken = [{ task: Promise.reject(new Error('no such row')), group: 0, sample: 0 }];
    const failing = collect(
      rollout<Rung>({ env, policy, episodes: broken, concurrency: 1, sampling, seed: 1 }),
    );
    await expect(failing).rejects.toThrow('no such row');
  });
});

describe('a stream', () => {
  test('keeps 8 bytes a task in memory, and gives each task from its file', async () => {
    const text = 'x'.repeat(1000);
    async function* stream() {
      for (let i = 0; i < 20_000; i++) yield { number: i, text: `${text} ${i} é` };
    }
    const before = keptMemory();
    const { train } = taskSets({ train: stream() });
    expect(await train.length).toBe(20_000);
    // The tasks have 20 MB. A buffer holds up to 1 MiB of the last tasks. Node frees the memory of buffers some time after the collection.
    await vi.waitFor(() => expect(keptMemory() - before).toBeLessThan(6e6), { timeout: 10_000 });
    // The file has no name any more, so nothing is left behind, however the process ends.
    expect(readdirSync(tmpdir()).filter((name) => name.startsWith('toolenv-tasks-'))).toEqual([]);
    for (const number of [0, 1, 9999, 19_998, 19_999, 1023])
      expect(await train.get(number)).toEqual({ number, text: `${text} ${number} é` });
  });

  test('fails for all who wait, with what the stream throws', async () => {
    async function* failing() {
      yield 1;
      throw new Error('the server is gone');
    }
    const { train } = taskSets({ train: failing() });
    await expect(train.length).rejects.toThrow('the server is gone');
    await expect(train.get(0)).rejects.toThrow('the server is gone');
  });

  test.each([
    [undefined, 'undefined'],
    [{ id: 2n }, 'BigInt'],
  ])('refuses the task %o, which is not JSON', async (task, why) => {
    async function* stream() {
      yield { fine: true };
      yield task;
    }
    const { length } = taskSets<unknown>({ train: stream() }).train;
    await expect(length).rejects.toMatchObject({
      code: 'bug.environment',
      message: expect.stringMatching(new RegExp(`^Task 1 of a stream is not a JSON value .*${why}`)),
    });
  });
});

test.each([
  [Promise.resolve([1]), 'The tasks of a split are [object Promise]: give an array, a stream,'],
  ['rows.jsonl', 'are [object String]'],
  [null, 'are [object Null]'],
  [{ length: 3 }, 'are [object Object]'],
])('refuses %o as the tasks of a split', async (train, message) => {
  const of = (tasks: unknown) => taskSets(tasks as TaskSources<number>);
  const refusal = { code: 'bug.environment', message: expect.stringContaining(message) };
  expect(() => of({ train })).toThrow(expect.objectContaining(refusal));
  // A function may return a promise.
  if (train instanceof Promise) return;
  await expect(of({ train: () => train }).train.length).rejects.toMatchObject(refusal);
});

test.each([-1, 1.5, Number.NaN, '3', undefined])('refuses %o as a length', async (length) => {
  const set = { length, get: () => 1 } as unknown as TaskSet<number>;
  const refusal = { code: 'bug.environment', message: expect.stringContaining(`is ${length}: give`) };
  expect(() => taskSets({ test: set }).test.length).toThrow(expect.objectContaining(refusal));
  const later = taskSets({ test: { ...set, length: Promise.resolve(length) } as TaskSet<number> }).test;
  await expect(later.length).rejects.toMatchObject(refusal);
});

test('an open environment tells the splits that its author names', async () => {
  const splitsOf = async (tasks: TaskSources<number> | (() => TaskSources<number>)) => {
    await using env = await openEnv(
      defineToolEnv({
        name: 'number-v1',
        description: 'Say a number.',
        tasks,
        rewards: { said: { kind: 'outcome', score: ({ answer, task }) => Number(answer === `${task}`) } },
        episode: ({ task }) => ({ messages: `Say ${task}.` }),
      }),
    );
    return env.splits;
  };
  expect(await splitsOf({ train: [1], test: [] })).toEqual(['train', 'test']);
  expect(await splitsOf(() => ({ validation: () => [], test: undefined }))).toEqual(['validation']);
  expect(await splitsOf(taskSets({ test: [1] }))).toEqual(['test']);
});
