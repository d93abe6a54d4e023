/** Which tasks a step plays, and what takes their place. */
import { expect, test } from 'vitest';
import { drawEpisodes, drawReplacements } from '../../src/rollouts/draw-episodes.ts';

const tasks = { length: 50, get: (index: number) => index };
const options = { tasksPerStep: 10, groupSize: 3, seed: 1 };
const tasksOf = (episodes: { task: number; sample: number }[]) =>
  episodes.filter(({ sample }) => sample === 0).map(({ task }) => task);

test('every task comes once before any task repeats, then in another order', () => {
  const drawn = Array.from({ length: 10 }, (_, step) => tasksOf(drawEpisodes(tasks, options, step))).flat();
  const [first, second] = [drawn.slice(0, 50), drawn.slice(50)];
  expect(new Set(first).size).toBe(50);
  expect(new Set(second).size).toBe(50);
  expect(first).not.toEqual(second);
});

test('replacements repeat for the same step and attempt, and differ otherwise', () => {
  const draw = (step: number, attempt: number) => drawReplacements(tasks, options, step, attempt, 8);
  expect(draw(3, 1)).toEqual(draw(3, 1));
  expect(tasksOf(draw(3, 2))).not.toEqual(tasksOf(draw(3, 1)));
  expect(tasksOf(draw(4, 1))).not.toEqual(tasksOf(draw(3, 1)));
});

test('the groups of a step have distinct numbers', () => {
  const whole = [drawEpisodes(tasks, options, 3), drawReplacements(tasks, options, 3, 1, 10)];
  const episodes = [...whole, drawReplacements(tasks, options, 3, 2, 4)].flat();
  expect(new Set(episodes.map(({ group }) => group)).size).toBe(24);
  expect(new Set(episodes.map(({ group, sample }) => `${group} ${sample}`)).size).toBe(72);
  for (const { group, task } of episodes) {
    expect(episodes.filter((other) => other.group === group).every((other) => other.task === task)).toBe(
      true,
    );
  }
});
