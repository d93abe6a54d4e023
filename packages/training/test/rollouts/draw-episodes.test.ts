/** Which tasks a step plays, and what takes their place. */
import { expect, test } from 'vitest';
import { draw, drawEpisodes } from '../../src/rollouts/draw-episodes.ts';

const tasks = { length: 50, get: (index: number) => index };
const options = { tasksPerStep: 10, groupSize: 3, seed: 1 };
const drawReplacements = async (step: number, attempt: number, count: number) => {
  const wanted = { step, attempt, count, results: new Map() };
  return (await draw({ tasks: { train: tasks } }, options, wanted)).episodes;
};
const tasksOf = (episodes: { task: unknown; sample: number }[]) =>
  episodes.filter(({ sample }) => sample === 0).map(({ task }) => task);

test('every task comes once before any task repeats, then in another order', async () => {
  const steps = Array.from({ length: 10 }, (_, step) => drawEpisodes(tasks, options, step));
  const drawn = (await Promise.all(steps)).flatMap(tasksOf);
  const [first, second] = [drawn.slice(0, 50), drawn.slice(50)];
  expect(new Set(first).size).toBe(50);
  expect(new Set(second).size).toBe(50);
  expect(first).not.toEqual(second);
});

test('replacements repeat for the same step and attempt, and differ otherwise', async () => {
  const draw = (step: number, attempt: number) => drawReplacements(step, attempt, 8);
  const first = await draw(3, 1);
  expect(await draw(3, 1)).toEqual(first);
  expect(tasksOf(await draw(3, 2))).not.toEqual(tasksOf(first));
  expect(tasksOf(await draw(4, 1))).not.toEqual(tasksOf(first));
});

test('the groups of a step have distinct numbers', async () => {
  const whole = [await drawEpisodes(tasks, options, 3), await drawReplacements(3, 1, 10)];
  const episodes = [...whole, await drawReplacements(3, 2, 4)].flat();
  expect(new Set(episodes.map(({ group }) => group)).size).toBe(24);
  expect(new Set(episodes.map(({ group, sample }) => `${group} ${sample}`)).size).toBe(72);
  for (const { group, task } of episodes) {
    expect(episodes.filter((other) => other.group === group).every((other) => other.task === task)).toBe(
      true,
    );
  }
});

test.each([[[0]], [[0, 50]], [[0, -1]], [[0, 1.5]]])(
  'an environment that draws %j is a bug',
  async (indices) => {
    const env = { tasks: { train: tasks }, draw: () => indices };
    const drawing = () => draw(env, options, { step: 0, attempt: 0, count: 2, results: new Map() });
    await expect(drawing).rejects.toThrow('must return 2 indices below 50');
  },
);
