/** Pairing evaluations, reading them from files, and judging means. */
import { execFileSync } from 'node:child_process';
import { mkdtemp, rm, truncate, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { scriptedPolicy } from '@toolenv/core';
import { describe, expect, onTestFinished, test } from 'vitest';
import { openLadder } from '../../../core/test/ladder-env.ts';
import { evaluate, readEvaluation } from '../../src/index.ts';
import { compareEvaluations, scoreVerdict } from '../../src/runs.ts';
import { scoredTasks } from './scored-tasks.ts';

/** Climbs two rungs: right where the goal is 2. */
const policy = scriptedPolicy((_, turn) =>
  turn === 0 ? [{ name: 'climb', arguments: { rungs: 2 } }] : 'done',
);
const played = () => evaluate({ env: openLadder(), policy, split: 'validation' });

describe('comparing', () => {
  const baseline = scoredTasks([[1], [0, 1], [], [0]]);

  test('pairs tasks by their place, and leaves out the tasks without a score', () => {
    const evaluation = scoredTasks([[0], [1], [1]]);
    expect(compareEvaluations(evaluation, baseline, 'em')).toEqual({
      ...{ mean: 0, interval: null, count: 2 },
      tasks: [
        { index: 0, question: 'Question 0?', before: 1, after: 0 },
        { index: 1, question: 'Question 1?', before: 0, after: 1 },
      ],
    });
    expect(compareEvaluations(scoredTasks([[0]]), baseline, 'reward')!.mean).toBe(-2);
    expect(compareEvaluations(scoredTasks([[]]), baseline, 'em')).toBeNull();
  });

  test('refuses another task at the same place', () => {
    const { tasks } = scoredTasks([[1], [1]]);
    const other = { tasks: [tasks[0]!, { ...tasks[1]!, digest: 'another' }] };
    expect(() => compareEvaluations(other, baseline, 'em')).toThrow(
      expect.objectContaining({
        code: 'usage.other_tasks',
        message:
          'Task 1 is another task than in the baseline: play with the split, the seed and the options of the baseline, or make a new baseline.',
      }),
    );
  });

  test('names the metrics that there are', () => {
    expect(() => compareEvaluations(baseline, baseline, 'emm')).toThrow('Did you mean "em"?');
    expect(() => compareEvaluations(baseline, baseline, 'accuracy')).toThrow('Metrics: reward, em.');
  });
});

describe('the tasks of an evaluation', () => {
  test('have scores, a question and a digest that equal tasks share', async () => {
    const { tasks } = await played();
    expect(tasks).toHaveLength(10);
    expect(tasks[1]).toMatchObject({ index: 1, scores: { right: [1], close: [], climbed: [1] } });
    expect(tasks[1]!.question).not.toBe('');
    expect(new Set(tasks.map(({ digest }) => digest)).size).toBe(10);
    expect((await played()).tasks).toEqual(tasks);
  });
});

describe('reading a file', () => {
  async function scratch(): Promise<string> {
    const folder = await mkdtemp(join(tmpdir(), 'toolenv-evaluation-'));
    onTestFinished(() => rm(folder, { recursive: true }));
    return folder;
  }

  test('gives what was written, from a folder too', async () => {
    const folder = await scratch();
    const evaluation = await played();
    await writeFile(join(folder, 'summary.json'), JSON.stringify(evaluation));
    for (const path of [folder, join(folder, 'summary.json')])
      expect((await readEvaluation(path)).tasks).toEqual(evaluation.tasks);
  });

  test.each([
    ['{"tasks": [', 'is not JSON'],
    ['[]', 'has no scores of tasks'],
    ['{"reward": 1}', 'has no scores of tasks'],
    ['{"tasks": []}', 'has no scores of tasks'],
    [
      '{"tasks": [{"index": 0, "digest": "a", "question": "", "reward": ["1"], "scores": {}}]}',
      'tasks[0] must have',
    ],
    [
      '{"tasks": [{"index": 0, "digest": "a", "question": "", "reward": [], "scores": {"em": [1e999]}}]}',
      'tasks[0] must have',
    ],
    ['{"policies": []}', 'compares several policies'],
    [`{"tasks": ${'['.repeat(1e5)}${']'.repeat(1e5)}}`, 'tasks[0] must have'],
    [`{"tasks": [${'{"index": 0},'.repeat(1e5)}{}]}`, 'tasks[0] must have'],
  ])('refuses %.99s', async (text, why) => {
    const file = join(await scratch(), 'last.json');
    await writeFile(file, text);
    const refused = expect.objectContaining({ code: 'usage.not_an_evaluation' });
    await expect(readEvaluation(file)).rejects.toThrow(refused);
    await expect(readEvaluation(file)).rejects.toThrow(why);
    await expect(readEvaluation(file)).rejects.toThrow('give a file that "toolenv eval --json" printed');
  });

  test('refuses a file that is absent, a pipe or of a gigabyte', async () => {
    const file = join(await scratch(), 'last.json');
    await expect(readEvaluation(file)).rejects.toThrow('last.json does not exist: give');
    execFileSync('mkfifo', [`${file}.pipe`]);
    await expect(readEvaluation(`${file}.pipe`)).rejects.toThrow('give');
    await writeFile(file, '');
    await truncate(file, 2 ** 30);
    await expect(readEvaluation(file)).rejects.toThrow(
      /has 1073741824 bytes, and at most 134217728 are read: give/,
    );
  });
});

describe('bounds of a mean', () => {
  const evaluation = {
    ...scoredTasks([[1], [0], [0, 1], []]),
    means: { em: 0.5 },
    intervals: { em: [0.1, 0.9] as [number, number] },
    reward: 1,
    rewardInterval: null,
  };

  test.each([
    ['em', { atLeast: 0.5 }, true],
    ['em', { atLeast: 0.51 }, false],
    ['em', { atMost: 0.5 }, true],
    ['em', { atLeast: 0.1, atMost: 0.4 }, false],
    ['reward', { atLeast: 1 }, true],
    ['reward', { atMost: 0.9 }, false],
  ])('%s %j: %s', (metric, bounds, passed) => {
    expect(scoreVerdict(evaluation, metric, bounds).passed).toBe(passed);
  });

  test('a failure lists the tasks beyond the bound', () => {
    const { message } = scoreVerdict(evaluation, 'em', { atLeast: 0.8 });
    expect(message.split('\n')).toEqual([
      'em is 0.500 (95 % interval 0.100 to 0.900), and must be at least 0.8.',
      '2 of 4 tasks are beyond it:',
      '  task 1: 0.000  Question 1?',
      '  task 2: 0.500  Question 2?',
    ]);
  });

  test('a metric without a score fails', () => {
    const unscored = { ...evaluation, tasks: [], means: { em: null }, intervals: { em: null } };
    expect(scoreVerdict(unscored, 'em', { atLeast: 0 })).toEqual({
      passed: false,
      message: 'em is not scored, and must be at least 0.',
    });
  });
});
