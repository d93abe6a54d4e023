import { describe, expect, it } from 'vitest';
import { trainingCurves } from '../../src/index.ts';

describe('trainingCurves', () => {
  it('takes reward and the score of being right from the rollouts', () => {
    const metrics = { reward: 0.4, 'rewards/f1/mean': 0.5, 'rewards/em/mean': 0.3 };
    expect(
      trainingCurves([
        { type: 'rollout', step: 1, metrics },
        { type: 'update', step: 1, metrics: { loss: 0.1 } },
      ]),
    ).toEqual([
      { name: 'reward', points: [[1, 0.4]] },
      { name: 'EM', points: [[1, 0.3]] },
    ]);
  });
});
