/** Training draws the tasks of a mix by weights. */
import { expect, test } from 'vitest';
import type { TaskDrawing } from '../../src/index.ts';
import { mixEnvs, withCurriculum } from '../../src/wrappers/index.ts';
import { openLadder, type Rung } from '../ladder-env.ts';

const envs = () => ({ a: openLadder(), b: openLadder(), c: openLadder() });
/** The tasks of step after step, `count` in each. */
async function drawn(
  mix: { draw?: unknown },
  count: number,
  steps: number,
  more: Partial<TaskDrawing> = {},
): Promise<number[][]> {
  const draw = mix.draw as (drawing: TaskDrawing) => Promise<number[]>;
  const each = Array.from({ length: steps }, (_, step) =>
    draw({ step, count, first: step * count, seed: 1, attempt: 0, results: new Map(), ...more }),
  );
  return await Promise.all(each);
}
/** Tasks 0 to 9 are those of a, 10 to 19 of b, 20 to 29 of c. */
const counts = (tasks: number[]) =>
  [0, 1, 2].map((env) => tasks.filter((task) => Math.floor(task / 10) === env).length);

test('each environment has its share of every step, to within one task', async () => {
  const weights = { a: 0.5, b: 0.3, c: 0.2 };
  const steps = await drawn(mixEnvs<Rung>(envs(), { weights }), 10, 40);
  expect(counts(steps.flat())).toEqual([200, 120, 80]);
  for (const step of steps) {
    const [a, b, c] = counts(step) as [number, number, number];
    expect(Math.abs(a - 5)).toBeLessThanOrEqual(1);
    expect(Math.abs(b - 3)).toBeLessThanOrEqual(1);
    expect(Math.abs(c - 2)).toBeLessThanOrEqual(1);
  }
});

test('the shares hold over the steps even if a step is smaller than the number of environments', async () => {
  const weights = { a: Math.SQRT2, b: 1, c: 0.01 };
  const total = Math.SQRT2 + 1.01;
  const tasks = (await drawn(mixEnvs<Rung>(envs(), { weights }), 2, 1500)).flat();
  for (const [env, weight] of [Math.SQRT2, 1, 0.01].entries())
    expect(Math.abs(counts(tasks)[env]! - (3000 * weight) / total)).toBeLessThan(1.5);
});

test('within an environment every task comes once before any comes again', async () => {
  const tasks = (await drawn(mixEnvs<Rung>(envs(), { weights: { a: 2, b: 1, c: 0 } }), 6, 5)).flat();
  expect(counts(tasks)).toEqual([20, 10, 0]);
  const ofA = tasks.filter((task) => task < 10);
  expect(new Set(ofA.slice(0, 10)).size).toBe(10);
  expect(new Set(ofA.slice(10)).size).toBe(10);
  expect(ofA.slice(0, 10)).not.toEqual(ofA.slice(10));
  expect(new Set(tasks.filter((task) => task >= 10)).size).toBe(10);
});

test('a step can be drawn without the steps before it', async () => {
  const mix = mixEnvs<Rung>(envs(), { weights: { a: 3, b: 2, c: 1.5 } });
  const all = await drawn(mix, 7, 30);
  const again = await drawn(mix, 7, 30);
  expect(again).toEqual(all);
  expect((await drawn(mix, 7, 1, { step: 17, first: 17 * 7 }))[0]).toEqual(all[17]);
});

test('replacements follow the weights too', async () => {
  const mix = mixEnvs<Rung>(envs(), { weights: { a: 3, b: 1, c: 0 } });
  const tasks = (await drawn(mix, 8, 100, { attempt: 1 })).flat();
  const [a, b, c] = counts(tasks) as [number, number, number];
  expect(c).toBe(0);
  expect(a / (a + b)).toBeCloseTo(0.75, 1);
});

test('an environment of the mix keeps its own way to draw', async () => {
  const { a, b } = envs();
  const seen: (readonly [number, number])[][] = [];
  const chosen = withCurriculum(a, ({ tasks, results }) => {
    seen.push([...results].map(([index, { last }]) => [index, last] as const));
    return Array.from({ length: tasks.length }, (_, index) => Number(index === 7));
  });
  const mix = mixEnvs<Rung>({ b, chosen }, { weights: { b: 1, chosen: 1 } });
  const result = { episodes: 1, mean: 0, last: 0.5, step: 1 };
  const [tasks] = await drawn(mix, 4, 1, {
    results: new Map([
      [3, result],
      [13, result],
    ]),
  });
  expect(tasks!.filter((task) => task >= 10)).toEqual([17, 17]);
  // Of the results, it sees its own, by its own indices.
  expect(seen).toEqual([[[3, 0.5]]]);
  expect(mixEnvs<Rung>(envs()).draw).toBeUndefined();
  expect(mixEnvs<Rung>({ b, chosen }).draw).toBeDefined();
});

test.each([
  [{ a: 1, d: 1 }, 'there is no environment "d" to weigh'],
  [{ a: -1 }, 'the weight of a is -1: give a number from 0 up'],
  [{ a: Number.NaN }, 'the weight of a is NaN'],
  [{ a: 0, b: 0, c: 0 }, 'every weight is 0'],
])('refuses the weights %j', (weights, message) => {
  expect(() => mixEnvs<Rung>(envs(), { weights: weights as Record<string, number> })).toThrow(message);
});
