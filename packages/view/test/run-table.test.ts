/** The run table without a browser: what a search finds, how runs are ordered, and which differ by their seed alone. */
import { expect, test } from 'vitest';
import { filterRuns, groupBySeed, sortRuns } from '../page/all-runs/arrange-runs.ts';
import { cellText, columnsOf, entryOf, type RunEntry, titleOf } from '../page/all-runs/run-columns.ts';
import type { RunOverview } from '../src/overview/run-overview.ts';
import type { RunFacts } from '../src/recorded/recorded-run.ts';

function entry(name: string, facts: RunFacts, more: Partial<RunOverview> & { em?: number } = {}): RunEntry {
  const { em, ...rest } = more;
  const overview: RunOverview = {
    status: { kind: 'done' },
    progress: { unit: 'step', done: 10, of: 10 },
    scores: em === undefined ? [] : [{ name: 'em', after: { mean: em } }],
    latest: [],
    curve: [],
    cost: { parts: [], seconds: 90 },
    diagnoses: [],
    causes: {},
    ...rest,
  };
  const head = {
    name,
    path: `/runs/${name}`,
    kind: 'training' as const,
    facts,
    changes: [],
    begun: '2026-05-04T10:20:30.000Z',
    canNote: true,
  };
  return entryOf(head, 0, overview);
}

const grpo = (seed: number, learningRate: number, em: number) =>
  entry(
    `grpo-${learningRate}-${seed}`,
    { trainer: '@toolenv/trainer-grpo/grpo-v1', trainerOptions: { learningRate }, seed },
    { em },
  );
const runs = [
  grpo(1, 1e-4, 0.9),
  grpo(2, 1e-4, 0.7),
  grpo(1, 3e-5, 0.95),
  entry('ppo', {
    trainer: '@toolenv/trainer-ppo/ppo-v1',
    trainerOptions: { learningRate: 1e-4, epochs: 2 },
    seed: 1,
  }),
];
const names = (found: readonly RunEntry[]) => found.map(({ head }) => head.name);

test.each([
  ['', [0, 1, 2, 3]],
  ['GRPO', [0, 1, 2]],
  ['trainer:ppo', [3]],
  ['grpo seed=1', [0, 2]],
  ['learningRate=0.0001', [0, 1, 3]],
  ['trainerOptions.learningRate<1e-4', [2]],
  ['score>=0.9', [0, 2]],
  ['score>0.9 seed=1', [2]],
  ['em<0.8', [1]],
  ['epochs=2', [3]],
  ['ppo-v1', [3]],
  ['nowhere', []],
  // No column is called so.
  ['http://x', []],
])('a search for %j finds runs %j', (text, found) => {
  expect(names(filterRuns(runs, text))).toEqual(found.map((index) => names(runs)[index]));
});

test('runs are sorted by numbers and by names, and those without a value come last', () => {
  expect(names(sortRuns(runs, '-score'))).toEqual([
    'grpo-0.00003-1',
    'grpo-0.0001-1',
    'grpo-0.0001-2',
    'ppo',
  ]);
  expect(names(sortRuns(runs, 'score'))).toEqual(['grpo-0.0001-2', 'grpo-0.0001-1', 'grpo-0.00003-1', 'ppo']);
  const numbered = ['run-10', 'run-9', 'run-1'].map((name) => entry(name, {}));
  expect(names(sortRuns(numbered, 'name'))).toEqual(['run-1', 'run-9', 'run-10']);
  expect(names(sortRuns(numbered, ''))).toEqual(['run-10', 'run-9', 'run-1']);
});

test('runs that differ by their seed alone are together, with mean and deviation', () => {
  const groups = groupBySeed(runs, ['score', 'seed', 'trainer']);
  expect(groups.map((group) => names(group.runs))).toEqual([
    ['grpo-0.0001-1', 'grpo-0.0001-2'],
    ['grpo-0.00003-1'],
    ['ppo'],
  ]);
  expect(groups[0]!.numbers.get('score')!.mean).toBeCloseTo(0.8, 12);
  expect(groups[0]!.numbers.get('score')!.deviation).toBeCloseTo(0.1 * Math.SQRT2, 12);
  expect(groups[1]!.numbers.get('score')).toEqual({ mean: 0.95 });
  expect(groups[0]!.numbers.has('trainer')).toBe(false);
});

test('evaluations with other seeds are together, whatever they came to', () => {
  const evaluation = (seed: number, temperature: number) =>
    entry(`eval-${seed}`, {
      ...{ policy: 'tiny', temperature, seed, reward: seed / 10, means: { em: seed / 10 }, seconds: seed },
      ...{
        intervals: { em: [0, seed] },
        outcomes: { 'terminated:answered': seed },
        tokens: 7 * seed,
        turns: seed,
      },
    });
  const groups = groupBySeed([evaluation(1, 0), evaluation(2, 0), evaluation(1, 1)], []);
  expect(groups.map(({ runs }) => runs.length)).toEqual([2, 1]);
});

test('the columns are the usual ones, then scores, then the options that differ', () => {
  const columns = columnsOf(runs);
  expect(columns.slice(0, 10)).toEqual([
    'status',
    'progress',
    'score',
    'reward',
    'fault',
    'begun',
    'duration',
    'tags',
    'note',
    'score.em',
  ]);
  expect(columns.slice(10)).toEqual([
    'seed',
    'trainer',
    'trainerOptions.epochs',
    'trainerOptions.learningRate',
    'kind',
  ]);
  expect(titleOf('trainerOptions.learningRate')).toBe('learningRate');
});

test('cells are written as people read them', () => {
  const cells = ['duration', 'begun', 'score', 'trainerOptions.learningRate', 'none'].map((column) =>
    cellText(runs[0]!, column),
  );
  expect(cells).toEqual(['1 min 30 s', '2026-05-04 10:20', '0.900', '1.0e-4', '–']);
});
