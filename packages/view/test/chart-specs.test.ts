/** Which curves share a chart, and what a chart is called. */
import type { MetricsLine } from '@toolenv/training';
import { expect, test } from 'vitest';
import { chartSpecs, oneCurveEach } from '../page/curves/chart-specs.ts';

const line = (type: MetricsLine['type'], step: number, metrics: Record<string, number>) =>
  ({ type, step, metrics }) as MetricsLine;
const rewards = { reward: 0.4, 'rewards/em/mean': 0.4, 'rewards/f1/mean': 1 };

function shown(specs: ReturnType<typeof chartSpecs>) {
  return specs.map(({ title, curves }) => [title, curves.map(({ label }) => label)]);
}

test.each([
  ['rollout', 'Reward'],
  ['evaluation', 'Validation'],
] as const)('a reward that counts something has its own axis: %s', (type, title) => {
  const lines = [
    line(type, 1, { ...rewards, 'rewards/searches/mean': 0.5 }),
    line(type, 2, { ...rewards, 'rewards/searches/mean': 3 }),
  ];
  const expected = [
    [title, ['reward', 'em', 'f1']],
    [`${title}: searches`, ['searches']],
  ];
  expect(shown(chartSpecs(lines))).toEqual(expected);
  expect(oneCurveEach(chartSpecs(lines)).map((chart) => chart.title)).toEqual([
    type === 'rollout' ? 'Reward' : 'Validation: reward',
    `${title}: em`,
    `${title}: f1`,
    `${title}: searches`,
  ]);
});

test('a KL that is always 0 is left out, and any other says from where it is measured', () => {
  const still = [line('update', 1, { 'actor/ppo_kl': 0 }), line('update', 2, { 'actor/ppo_kl': 0 })];
  expect(chartSpecs(still)).toEqual([]);
  const both = [...still, line('update', 3, { kl: 0, 'actor/ppo_kl': -0.01 })];
  expect(shown(chartSpecs(both))).toEqual([['KL divergence', ['to the start', 'within the step']]]);
  const moved = [...still, line('update', 3, { 'actor/ppo_kl': 0.01 })];
  expect(oneCurveEach(chartSpecs(moved)).map(({ title }) => title)).toEqual([
    'KL divergence: within the step',
  ]);
});
