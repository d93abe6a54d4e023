/** taskMap, compareTasks and firstDifference: what becomes of a task in training, and between two evaluations. */
import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { firstDifference } from '../page/tasks/first-difference.ts';
import { compareTasks } from '../src/tasks/compare-tasks.ts';
import { taskMap } from '../src/tasks/task-map.ts';
import type { EpisodeRow } from '../src/view/episode-index.ts';

let number = 0;
const row = (task: number, step: number | undefined, reward: number | null, group = task): EpisodeRow => ({
  episodeId: '',
  ...(step !== undefined && { step }),
  group,
  sample: 0,
  reward,
  rewards: { em: reward },
  end: 'terminated:answered',
  turns: 1,
  tokens: 1,
  tools: [],
  calls: 0,
  mistakes: [],
  number: number++,
  task,
  digest: `digest-${task}`,
  question: `question ${task}`,
  answer: '',
});

/** A task with these rewards in the steps 1, 2, 3 … */
const course = (task: number, ...rewards: number[]) =>
  rewards.map((reward, index) => row(task, index + 1, reward));

describe('the tasks of a run', () => {
  const rows = [
    ...course(0, 0, 0, 1, 1),
    ...course(1, 0, 1, 1, 1),
    ...course(2, 1, 1, 0, 0),
    ...course(3, 0, 0, 0.25, 0),
    ...course(4, 1, 1, 1, 1),
    row(5, 2, null),
  ];
  const tasks = (query: object) => taskMap(rows, { count: 100, ...query }).rows.map(({ task }) => task);

  test('are learned, forgotten, never or always solved, since a step', () => {
    const { rows: found, counts, columns, range, total } = taskMap(rows, { count: 100 });
    expect(found.map(({ task, kind, since }) => [task, kind, since])).toEqual([
      [0, 'learned', 3],
      [1, 'learned', 2],
      [2, 'forgotten', 3],
      [3, 'never', undefined],
      [4, 'always', undefined],
    ]);
    expect(counts).toEqual({ learned: 2, forgotten: 1, never: 1, always: 1 });
    expect([columns, range, total]).toEqual([
      [
        [1, 1],
        [2, 2],
        [3, 3],
        [4, 4],
      ],
      [0, 1],
      5,
    ]);
  });

  test('are solved by their outcome, not by the rewards that they earn on the way', () => {
    // Finding the document pays 0.1 of the reward, and no answer was right.
    const found = [0.1, 0, 0.1].map((reward, index) => ({ ...row(0, index + 1, reward), success: 0 }));
    const never = taskMap(found, { count: 1 });
    expect([never.rows[0]!.kind, never.range]).toEqual(['never', [0, 0.1]]);
    const right = [0, 1, 1].map((success, index) => ({ ...row(0, index + 1, 0.1), success }));
    expect(taskMap(right, { count: 1 }).rows[0]).toMatchObject({ kind: 'learned', since: 2 });
  });

  test('are sorted by what is asked for, and chosen by their kind', () => {
    expect(tasks({ sort: 'learned' }).slice(0, 2)).toEqual([0, 1]);
    expect(tasks({ sort: 'forgotten' })[0]).toBe(2);
    expect(tasks({ sort: 'never' })[0]).toBe(3);
    expect(tasks({ kind: 'always' })).toEqual([4]);
    expect(tasks({ count: 2 })).toEqual([0, 1]);
  });

  test('have the mean of a group in a cell, and its last group where several steps share a column', () => {
    const group = [row(0, 1, 0, 7), row(0, 1, 1, 7), row(0, 1, null, 7)];
    expect(taskMap(group, { count: 1 }).rows[0]!.cells).toEqual([
      { column: 0, step: 1, group: 7, reward: 0.5, isSolved: false, episodes: 2 },
    ]);
    const many = Array.from({ length: 400 }, (_, step) => row(0, step + 1, step % 2, step));
    const { columns, rows: found } = taskMap(many, { count: 1 });
    expect(columns).toHaveLength(80);
    expect(columns[0]).toEqual([1, 5]);
    expect(found[0]!.cells[0]).toEqual({
      column: 0,
      step: 5,
      group: 4,
      reward: 0.4,
      isSolved: false,
      episodes: 5,
    });
  });

  test('lose no scored episode, whatever the order of the file', () => {
    const episode = fc.tuple(
      fc.nat(6),
      fc.integer({ min: 1, max: 300 }),
      fc.option(fc.double({ min: -1, max: 2, noNaN: true })),
    );
    fc.assert(
      fc.property(fc.array(episode, { maxLength: 60 }), (given) => {
        const all = given.map(([task, step, reward]) => row(task, step, reward));
        const { rows: found, counts } = taskMap(all, { count: 1000 });
        const cells = found.flatMap((each) => each.cells);
        expect(cells.reduce((sum, { episodes }) => sum + episodes, 0)).toBe(
          all.filter(({ reward }) => reward !== null).length,
        );
        expect(Object.values(counts).reduce((sum, count) => sum + count)).toBe(found.length);
        expect(cells.every(({ column, reward }) => column >= 0 && Number.isFinite(reward))).toBe(true);
        expect(taskMap([...all].reverse(), { count: 1000 }).counts).toEqual(counts);
      }),
    );
  });

  test('none without episodes', () => {
    expect(taskMap([], { count: 10 })).toMatchObject({ columns: [], rows: [], total: 0 });
  });
});

describe('the tasks of two evaluations', () => {
  const at = (task: number, ...rewards: (number | null)[]) =>
    rewards.map((reward) => row(task, undefined, reward));

  test('that flipped come first, with an episode of each that shows it', () => {
    const before = [...at(0, 1, 1, 0), ...at(1, 0), ...at(2, 1), ...at(3, 0), ...at(9, 1)];
    const after = [...at(0, 0, 0, 1), ...at(1, 1), ...at(2, 1), ...at(3, null), row(8, undefined, 1, 9)];
    const { rows, counts, unpaired, score } = compareTasks(before, after, 'em');
    expect(
      rows.map(({ question, flip, before: was, after: is }) => [
        question,
        flip,
        was.toFixed(2),
        is.toFixed(2),
      ]),
    ).toEqual([
      ['question 0', 'lost', '0.67', '0.33'],
      ['question 1', 'won', '0.00', '1.00'],
      ['question 2', 'same', '1.00', '1.00'],
    ]);
    expect(counts).toEqual({ lost: 1, won: 1, same: 1 });
    // The task without a score, and a place with another task in each.
    expect([unpaired, score]).toEqual([3, 'em']);
    expect(rows[0]!.episodes).toEqual([before[0]!.number, after[0]!.number]);
  });

  test('are solved by their outcome', () => {
    const of = (success: number) => at(0, 0.1).map((each) => ({ ...each, success }));
    expect(compareTasks(of(0), of(1), 'reward').rows[0]!.flip).toBe('won');
    expect(compareTasks(of(0), of(0.4), 'reward').rows[0]!.flip).toBe('same');
  });

  test('swapped, what was won is lost', () => {
    const rewards = fc.array(fc.constantFrom(0, 0.5, 1), { minLength: 1, maxLength: 20 });
    fc.assert(
      fc.property(rewards, rewards, (one, other) => {
        const [before, after] = [one, other].map((each) => each.flatMap((reward, task) => at(task, reward)));
        const forth = compareTasks(before!, after!, 'reward');
        const back = compareTasks(after!, before!, 'reward');
        expect([back.counts.won, back.counts.lost]).toEqual([forth.counts.lost, forth.counts.won]);
        expect(forth.rows).toHaveLength(Math.min(one.length, other.length));
      }),
    );
  });
});

describe('the first different token', () => {
  const episode = (...turns: (number[] | undefined)[]) =>
    ({ steps: turns.map((action) => ({ action: { tokens: action && { action } } })) }) as never;

  test.each([
    ['the same', [[1, 2], [3]], [[1, 2], [3]], undefined],
    [
      'in a later turn',
      [
        [1, 2],
        [3, 4],
      ],
      [
        [1, 2],
        [3, 5],
      ],
      { turn: 1, token: 1 },
    ],
    ['where one turn is shorter', [[1, 2, 3]], [[1, 2]], { turn: 0, token: 2 }],
    ['where one episode ends', [[1]], [[1], [2]], { turn: 1, token: 0 }],
    ['without tokens', [undefined], [undefined], undefined],
  ])('%s', (_, one, other, place) => {
    expect(firstDifference(episode(...one), episode(...other))).toEqual(place);
  });
});
