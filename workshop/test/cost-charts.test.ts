/** Charts of what a step costs. */
import { expect, test } from 'vitest';
import { type CostPoint, costCharts } from '../bench/cost-charts.ts';

const gigabyte = 1e9;

function point(
  axis: CostPoint['axis'],
  value: number | string,
  ours: number,
  peer: number | null,
): CostPoint {
  return {
    ...{ name: 'cost', size: '1m', axis, value, otherWork: 0, threads: 2, rounds: 5, versions: {} },
    seconds: { ours, peer },
    peakMemory: { ours: gigabyte, peer: peer === null ? null : 2 * gigabyte },
  };
}

test('each thing that grows has a chart of time and one of memory, with the name of the peer', () => {
  const svg = costCharts([
    point('context', 192, 0.2, 0.3),
    point('context', 4096, 0.4, 0.5),
    point('parameters', '15m', 1, 2),
    point('episodes', 16, 1, 3),
  ]);
  const titles = [...svg.matchAll(/<title>((?:Time|Memory) by [^<]*)/g)].map(([, title]) => title);
  expect(titles).toEqual(
    ['tokens of a row, 4,096 tokens a step', 'million parameters', 'episodes of a step of GRPO'].flatMap(
      (of) => [`Time by ${of}`, `Memory by ${of}`],
    ),
  );
  expect(svg.match(/>PyTorch/g)).toHaveLength(4);
  expect(svg.match(/>TRL/g)).toHaveLength(2);
});

test('a peer that was not measured has no curve', () => {
  const svg = costCharts([point('group', 1, 0.2, null), point('group', 16, 0.3, null)]);
  expect(svg).not.toContain('PyTorch');
});
