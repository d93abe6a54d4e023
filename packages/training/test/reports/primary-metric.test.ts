import { expect, it } from 'vitest';
import { headlineMetric } from '../../src/runs.ts';

it('prefers a score that means being right', () => {
  expect(headlineMetric({ reward: 1, 'rewards/f1/mean': 0.5, 'rewards/em/mean': 0.4 })).toEqual(['em', 0.4]);
  expect(headlineMetric({ 'rewards/format/mean': 0.9 })).toEqual(['format', 0.9]);
  expect(headlineMetric({ reward: 1 })).toBeUndefined();
});
