/** What becomes of groups whose episodes all scored the same. */
import { expect, test } from 'vitest';
import { zeroVarianceGroupsOf } from '../src/zero-variance-groups.ts';

const plain = {
  zeroVariance: 'drop',
  beta: 0,
  entropyCoefficient: 0,
  advantage: 'grpo',
  scaleRewards: 'group',
  credit: 'episode',
  normaliseProcessRewards: false,
} as const;

test.each([
  [{}, false, 'drop-by-score'],
  [{ zeroVariance: 'resample' }, false, 'drop-by-score'],
  [{ zeroVariance: 'keep' }, false, 'learn'],
  [{ beta: 0.1 }, false, 'learn'],
  [{ entropyCoefficient: 0.1 }, false, 'learn'],
  [{ credit: 'turn' }, false, 'drop-by-advantage'],
  [{ scaleRewards: 'batch' }, false, 'drop-after-comparison'],
  [{ scaleRewards: 'batch', advantage: 'rloo' }, false, 'drop-by-score'],
  [{ advantage: 'reinforce++' }, false, 'drop-after-comparison'],
  [{ advantage: 'reinforce++-baseline' }, false, 'drop-after-comparison'],
  [{ advantage: 'reinforce++', zeroVariance: 'keep' }, false, 'learn'],
  [{ normaliseProcessRewards: true }, false, 'drop-by-advantage'],
  [{}, true, 'drop-by-advantage'],
] as const)('%j, with an estimator of the user: %s: %s', (options, hasOwnAdvantage, expected) => {
  expect(zeroVarianceGroupsOf({ ...plain, ...options }, hasOwnAdvantage)).toBe(expected);
});
