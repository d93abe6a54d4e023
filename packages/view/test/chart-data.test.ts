/** What a chart draws, without a browser: its axis, runs of a mean, and its table. */
import type { MetricsLine } from '@toolenv/training';
import { expect, test } from 'vitest';
import { chartData, csvOf, type RunLines, smooth } from '../page/curves/chart-data.ts';
import type { ChartSpec } from '../page/curves/chart-specs.ts';

const spec: ChartSpec = {
  section: 'Reward',
  title: 'Reward',
  unit: 'mean',
  curves: [{ type: 'rollout', metric: 'reward', label: 'reward' }],
};

/** Each step takes `seconds`, and has ten episodes and a hundred tokens. */
function run(name: string, rewards: readonly number[], seconds = 60, number = 0): RunLines {
  const lines = rewards.flatMap((reward, index) => [
    { type: 'rollout', step: index + 1, metrics: { reward, episodes: 10, generated_tokens: 100 } },
    { type: 'update', step: index + 1, metrics: { step_time: seconds } },
  ]);
  return { name, run: number, lines: lines as unknown as MetricsLine[] };
}

test.each([
  ['step', [1, 2, 3]],
  ['time', [0.5, 1, 1.5]],
  ['tokens', [100, 200, 300]],
  ['episodes', [10, 20, 30]],
] as const)('runs are drawn over %s', (axis, places) => {
  const data = chartData(spec, [[run('a', [0, 0.5, 1], 30)]], { axis });
  expect(data.places).toEqual(places);
  expect(data.curves).toEqual([{ label: 'reward', run: 0, curve: 0, values: [0, 0.5, 1] }]);
});

test('runs of different speed meet at their places', () => {
  const { places, curves } = chartData(spec, [[run('fast', [1, 2], 30)], [run('slow', [3, 4], 60, 1)]], {
    axis: 'time',
  });
  expect(places).toEqual([0.5, 1, 2]);
  expect(curves.map(({ label, values }) => [label, values])).toEqual([
    ['fast', [1, 2, null]],
    ['slow', [null, 3, 4]],
  ]);
});

test('runs together are their mean, between the least and the greatest', () => {
  const together = [run('a', [0.2, 0.4], 30), run('b', [0.4, 0.8], 90, 1)] as const;
  const { places, curves } = chartData(spec, [together], { axis: 'time' });
  expect(places).toEqual([1, 2]);
  expect(curves).toHaveLength(1);
  expect(curves[0]!.label).toBe('a and 1 more');
  for (const [part, expected] of [
    [curves[0]!.values, [0.3, 0.6]],
    [curves[0]!.band!.low, [0.2, 0.4]],
    [curves[0]!.band!.high, [0.4, 0.8]],
  ] as const)
    for (const [at, value] of expected.entries()) expect(part[at]).toBeCloseTo(value, 12);
});

test('a step that only one of the runs has is that run', () => {
  const { curves } = chartData(spec, [[run('a', [1, 2, 3]), run('b', [3])]]);
  expect(curves[0]!.values).toEqual([2, 2, 3]);
  expect(curves[0]!.band).toEqual({ low: [1, 2, 3], high: [3, 2, 3] });
});

test('a logarithmic axis has no place for 0 and less', () => {
  const { curves } = chartData(spec, [[run('a', [0, -1, 0.1])]], { isLogarithmic: true });
  expect(curves[0]!.values).toEqual([null, null, 0.1]);
});

test('the table has the values of the chart, bands beside their means', () => {
  const one = chartData(spec, [[run('a', [0.25, 0.5])]], { axis: 'episodes' });
  expect(csvOf(one, 'episodes')).toBe('episodes,reward\n10,0.25\n20,0.5\n');
  const several = chartData(spec, [[run('a, "b"', [1]), run('c', [3])], [run('d', [2, 5], 60, 2)]]);
  expect(csvOf(several, 'step')).toBe(
    'steps,"a, ""b"" and 1 more","a, ""b"" and 1 more (least)","a, ""b"" and 1 more (greatest)",d\n1,2,1,3,2\n2,,,,5\n',
  );
});

test('smoothing begins without a bias, and gaps stay gaps', () => {
  expect(smooth([2, null, 2, 2], 0.9)).toEqual(
    [2, null, 2, 2].map((value) => value && expect.closeTo(value, 12)),
  );
  expect(smooth([0, 1], 0.5)[1]).toBeCloseTo(2 / 3, 12);
});
