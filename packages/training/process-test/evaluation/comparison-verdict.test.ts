/** The gate on simulated builds: how often noise fails a build, and how often a loss does. Seeds are fixed. */
import { createRng, type Rng } from '@toolenv/core';
import { describe, expect, test } from 'vitest';
import { comparisonVerdict, type Scored } from '../../src/runs.ts';
import { scoredTasks } from '../../test/evaluation/scored-tasks.ts';

interface Setting {
  tasks: number;
  /** Episodes of each task in the baseline and in a build. */
  samples: readonly [baseline: number, build: number];
  /** What a task that fails is paid: nothing, or anything up to .625, in steps. */
  kind: 'right or wrong' | 'graded';
}

/**
 * The chance of success of each task: most tasks are easy or hard. The logits have a standard deviation of 2.
 * @param logit Of the middle task.
 */
function chances(rng: Rng, tasks: number, logit = 1): number[] {
  return Array.from({ length: tasks }, () => {
    const normal = Math.sqrt(-2 * Math.log(1 - rng.float())) * Math.cos(2 * Math.PI * rng.float());
    return 1 / (1 + Math.exp(-logit - 2 * normal));
  });
}

function play(rng: Rng, tasks: readonly number[], samples: number, kind: Setting['kind']): Scored {
  const score = (chance: number) => {
    if (rng.float() < chance) return 1;
    return kind === 'graded' ? rng.int(6) / 8 : 0;
  };
  return scoredTasks(tasks.map((chance) => Array.from({ length: samples }, () => score(chance))));
}

/** The same agent after a change that costs `loss` of its mean score, most where it was best. */
function worsened(tasks: readonly number[], loss: number, kind: Setting['kind']): number[] {
  const mean = tasks.reduce((sum, chance) => sum + chance, 0) / tasks.length;
  const worth = kind === 'graded' ? 1 - 2.5 / 8 : 1;
  return tasks.map((chance) => chance * (1 - loss / worth / mean));
}

/** How many of the builds fail. */
function failures(builds: number, { tasks, samples, kind }: Setting, loss = 0): number {
  const rng = createRng(1, 'builds', tasks, ...samples, kind, loss);
  let failed = 0;
  for (let build = 0; build < builds; build++) {
    const agent = chances(rng, tasks);
    const baseline = play(rng, agent, samples[0], kind);
    const result = play(rng, worsened(agent, loss, kind), samples[1], kind);
    failed += Number(!comparisonVerdict('keepsUp', result, baseline).passed);
  }
  return failed;
}

test.each<[number, Setting['samples'], Setting['kind']]>([
  [8, [1, 1], 'right or wrong'],
  [32, [1, 1], 'right or wrong'],
  [32, [1, 1], 'graded'],
  [256, [4, 4], 'right or wrong'],
])('of 1,000 builds of an unchanged agent, %d tasks %j, %s, at most 1 % fail', (tasks, samples, kind) => {
  expect(failures(1000, { tasks, samples, kind })).toBeLessThanOrEqual(10);
});

test.each(['right or wrong', 'graded'] as const)(
  'a loss of .10 fails at least 95 % of the builds, 256 tasks of four episodes, %s',
  (kind) => {
    expect(failures(100, { tasks: 256, samples: [4, 4], kind }, 0.1)).toBeGreaterThanOrEqual(95);
  },
);

test.each([1, -4])(
  'against recorded baselines of eight episodes, at most one build in a hundred fails, logit %d',
  (logit) => {
    const rng = createRng(1, 'recorded', logit);
    let failed = 0;
    for (let recorded = 0; recorded < 100; recorded++) {
      const agent = chances(rng, 32, logit);
      const baseline = play(rng, agent, 8, 'right or wrong');
      for (let build = 0; build < 10; build++) {
        const result = play(rng, agent, 1, 'right or wrong');
        failed += Number(!comparisonVerdict('keepsUp', result, baseline).passed);
      }
    }
    expect(failed).toBeLessThanOrEqual(10);
  },
);

describe('by hand', () => {
  const tasks = (right: number, of = 20) =>
    scoredTasks(Array.from({ length: of }, (_, i) => [Number(i < right)]));

  test('a build that lost eight tasks fails, and one that lost seven does not', () => {
    expect(comparisonVerdict('keepsUp', tasks(13), tasks(20)).passed).toBe(true);
    const { passed, message } = comparisonVerdict('keepsUp', tasks(12), tasks(20));
    expect(passed).toBe(false);
    const [line, head, first, ...rest] = message.split('\n');
    expect(line).toMatch(
      /^em is 0\.600 over 20 tasks, and that of the baseline is 1\.000: a difference of −0\.400 \(99 % interval −0\.\d{3} to −0\.\d{3}\)\. The whole interval must not be below 0\.$/,
    );
    expect(head).toBe('8 of 20 tasks scored less:');
    expect(first).toBe('  task 12: 1.000 → 0.000  Question 12?');
    expect(rest).toHaveLength(7);
  });

  test('a margin allows a loss, and asks for a gain', () => {
    expect(comparisonVerdict('keepsUp', tasks(8), tasks(20), { margin: 0.1 }).passed).toBe(false);
    expect(comparisonVerdict('keepsUp', tasks(12), tasks(20), { margin: 0.2 }).passed).toBe(true);
    expect(comparisonVerdict('beats', tasks(20), tasks(8)).passed).toBe(true);
    expect(comparisonVerdict('beats', tasks(20), tasks(8), { margin: 0.6 }).passed).toBe(false);
    expect(comparisonVerdict('beats', tasks(20), tasks(13)).passed).toBe(false);
    expect(comparisonVerdict('beats', tasks(20), tasks(13), { confidence: 0.9 }).passed).toBe(true);
    expect(comparisonVerdict('beats', tasks(20), tasks(20)).passed).toBe(false);
  });

  test('equal losses of all tasks are the margin itself, in spite of rounding', () => {
    const all = (score: number) => scoredTasks(Array.from({ length: 30 }, () => [score]));
    expect(comparisonVerdict('keepsUp', all(0.6), all(0.7), { margin: 0.1 }).passed).toBe(true);
    expect(comparisonVerdict('keepsUp', all(0.599), all(0.7), { margin: 0.1 }).passed).toBe(false);
  });

  test.each([{ margin: -1 }, { confidence: 1 }, { confidence: Number.NaN }])('%j is refused', (bounds) => {
    expect(() => comparisonVerdict('keepsUp', tasks(9), tasks(9), bounds)).toThrow(/give a margin from 0 up/);
  });

  test('a comparison that could not fail is refused', () => {
    const few = () => comparisonVerdict('keepsUp', tasks(0, 7), tasks(7, 7));
    expect(few).toThrow(
      expect.objectContaining({
        code: 'usage.too_few_tasks',
        message:
          '7 tasks have a score for em in both evaluations, too few for a confidence of 0.99: play at least 8.',
      }),
    );
    expect(comparisonVerdict('keepsUp', tasks(0, 7), tasks(7, 7), { confidence: 0.95 }).passed).toBe(false);
  });
});
