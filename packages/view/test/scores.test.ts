/** compareScores, kindScores, scoredTasks and paretoFront: the scores of runs beside each other. */
import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { paretoFront } from '../page/scores/pareto.ts';
import type { RunFacts } from '../src/recorded/recorded-run.ts';
import { KindReader } from '../src/recorded/task-kinds.ts';
import { compareScores, type ScoredRun } from '../src/scores/compare-scores.ts';
import { kindScores } from '../src/tasks/kind-scores.ts';
import { scoredTasks } from '../src/tasks/scored-tasks.ts';
import { taskScores } from '../src/tasks/task-scores.ts';
import type { EpisodeRow } from '../src/view/episode-index.ts';

interface Given extends Partial<EpisodeRow> {
  group: number;
  em: number | null;
}

const rowsOf = (given: readonly Given[]): EpisodeRow[] =>
  given.map(({ em, ...rest }, number) => ({
    episodeId: String(number),
    sample: 0,
    reward: em,
    rewards: { em },
    end: 'terminated:answered',
    turns: 2,
    tokens: 10,
    tools: [],
    calls: 1,
    mistakes: [],
    number,
    task: rest.group,
    digest: `digest-${rest.group}`,
    question: `question ${rest.group}`,
    answer: '',
    ...rest,
  }));

const evaluation = (name: string, rows: readonly EpisodeRow[], facts: RunFacts = {}): ScoredRun => ({
  head: { name, kind: 'evaluation', facts },
  overview: {
    scores: [{ name: 'em', after: { mean: 0.5 } }],
    cost: { parts: [], seconds: 12, generatedTokens: 60 },
  },
  rows,
});

const scored = (ems: readonly number[]) => rowsOf(ems.map((em, group) => ({ group, em })));

describe('the kinds of tasks', () => {
  test('are fields with few values, of the task and of its objects', () => {
    const reader = new KindReader();
    const task = { level: 'hard', hops: 2, isOpen: true, data: { type: 'bridge', text: 'x'.repeat(41) } };
    expect(reader.of({ ...task, rate: 0.5, list: [1], none: null })).toEqual({
      level: 'hard',
      hops: '2',
      isOpen: 'true',
      'data.type': 'bridge',
    });
    expect([reader.of('text'), reader.of(null), reader.of([1])]).toEqual([{}, {}, {}]);
  });

  test('a field is dropped with its thirteenth value', () => {
    const reader = new KindReader();
    const read = Array.from({ length: 14 }, (_, id) => reader.of({ id, level: id % 2 }));
    expect(read[11]).toEqual({ id: '11', level: '1' });
    expect(read[12]).toEqual({ level: '0' });
    expect(read[13]).toEqual({ level: '1' });
    // Values that it had before are no exception.
    expect(reader.of({ id: 3, level: 1 })).toEqual({ level: '1' });
  });

  test('have the mean score of each run, in the order of their values', () => {
    const kinds = (hops: number) => ({ kinds: { hops: String(hops), id: String(hops) } });
    const first = rowsOf([
      { group: 0, em: 1, ...kinds(10) },
      { group: 1, em: 0, ...kinds(10) },
      { group: 2, em: 1, ...kinds(2) },
      { group: 3, em: 1, ...kinds(2) },
    ]);
    const second = rowsOf([{ group: 0, em: 0, ...kinds(10) }]);
    const [hops] = kindScores([taskScores(first, 'em'), taskScores(second, 'em')]);
    expect(hops).toEqual({
      field: 'hops',
      kinds: [
        { value: '2', tasks: 2, means: [1, null] },
        { value: '10', tasks: 2, means: [0.5, 0] },
      ],
    });
    // A task for each value says nothing of a kind.
    const alone = rowsOf([0, 1, 2].map((group) => ({ group, em: 1, kinds: { id: String(group) } })));
    expect(kindScores([taskScores(alone, 'em')])).toEqual([]);
  });
});

test('the tasks of an evaluation begin with the wrong ones', () => {
  const rows = rowsOf([
    { group: 0, em: 1 },
    { group: 1, em: 0 },
    { group: 1, em: 1, sample: 1 },
    { group: 2, em: 0 },
    { group: 3, em: null },
  ]);
  const { solved, tasks } = scoredTasks(rows, 'em');
  expect(solved).toBe(1);
  expect(tasks.map(({ question, mean, isSolved, episode }) => [question, mean, isSolved, episode])).toEqual([
    ['question 2', 0, false, 3],
    ['question 1', 0.5, false, 1],
    ['question 0', 1, true, 0],
  ]);
});

describe('scores beside each other', () => {
  test('differ task by task from the first, with what an episode costs', () => {
    const before = evaluation('before', scored([0, 0, 0, 0, 0, 1, 1, 0, 0, 0, 0, 0]));
    const after = evaluation('after', scored([1, 1, 1, 0, 1, 1, 1, 1, 1, 1, 0, 1]));
    const { score, runs } = compareScores([before, after]);
    expect([score, runs[0]!.differences]).toEqual(['em', undefined]);
    const { reward, em } = runs[1]!.differences!;
    expect(em!.mean).toBeCloseTo(8 / 12, 10);
    expect(em!.interval![0]).toBeGreaterThan(0.2);
    expect(em).toEqual(reward);
    expect(runs[1]!.costs).toEqual({ tokens: 5, turns: 2, calls: 1, seconds: 1 });
    const dollars = evaluation('paid', scored([1, 1]), { usage: { cost: 0.5 } });
    expect(compareScores([dollars]).runs[0]!.costs.dollars).toBe(0.25);
  });

  test('leave out aborted episodes, and say why tasks are not paired', () => {
    const before = evaluation('before', scored([0, 0, 0, 0, 0, 0]));
    const aborted = scored([1, 1, 1, 1, 1, 1]).map((row) =>
      row.group === 5 ? { ...row, end: 'aborted:infrastructure.timeout' } : row,
    );
    const { runs } = compareScores([before, evaluation('after', aborted)]);
    expect([runs[1]!.aborted, runs[1]!.differences!.em]).toEqual([1, { mean: 1, interval: null }]);
    const others = scored([1, 1]).map((row) => ({ ...row, digest: `other-${row.group}` }));
    const problem = compareScores([before, evaluation('other', others)]).runs[1]!;
    expect(problem.problem).toMatch(/^Task 0 is another task than in the baseline/);
    expect(problem.differences).toBeUndefined();
  });

  test('training runs have their cost and no difference', () => {
    const run: ScoredRun = {
      head: { name: 'run', kind: 'training', facts: {} },
      overview: { scores: [], cost: { parts: [], seconds: 90, generatedTokens: 7 } },
      rows: scored([1]),
    };
    const { runs, kinds } = compareScores([run, { ...run }]);
    expect(runs[1]).toMatchObject({ costs: { minutes: 1.5, trainingTokens: 7 } });
    expect([runs[1]!.differences, runs[1]!.problem, kinds]).toEqual([undefined, undefined, []]);
  });
});

test('no run beats a run of the front, and a run of the front beats each other run', () => {
  const small = fc.integer({ min: 0, max: 6 });
  const run = fc.record({ name: fc.string(), cost: small, score: small });
  const beats = (a: { cost: number; score: number }, b: { cost: number; score: number }) =>
    a.cost <= b.cost && a.score >= b.score && (a.cost < b.cost || a.score > b.score);
  fc.assert(
    fc.property(fc.array(run, { minLength: 1 }), (runs) => {
      const front = paretoFront(runs);
      expect(front.length).toBeGreaterThan(0);
      for (const each of runs) {
        const isBeaten = runs.some((other) => beats(other, each));
        expect(front.includes(each)).toBe(!isBeaten);
        if (isBeaten) expect(front.some((other) => beats(other, each))).toBe(true);
      }
      expect(front.map(({ cost }) => cost)).toEqual([...front.map(({ cost }) => cost)].sort((a, b) => a - b));
    }),
  );
});
