import { describe, expect, it } from 'vitest';
import { curveGroups, type MetricsLine, trainingCurves } from '../../src/index.ts';
import { chartGroups } from '../../src/run-folder/curves.ts';

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

describe('curveGroups', () => {
  const lines = [1, 2].flatMap((step): MetricsLine[] => [
    {
      type: 'rollout',
      step,
      metrics: {
        reward: step / 10,
        'rewards/em/mean': step / 5,
        'tools/failure_frequency': step / 4,
        'completions/clipped_ratio': 0,
        'num_turns/mean': 3,
        'time/generation': 2,
      },
    },
    { type: 'update', step, metrics: { loss: 1, entropy: 0.5, 'time/update': 1 } },
    { type: 'evaluation', step, metrics: { reward: 0.7, 'rewards/em/mean': 0.6 } },
  ]);
  const names = (groups: ReturnType<typeof curveGroups>) =>
    groups.map(({ name, curves }) => `${name}: ${curves.map((curve) => curve.name).join(', ')}`);

  it('puts together what is read together, and leaves out shares that stay 0', () => {
    expect(names(curveGroups(lines))).toEqual([
      'reward: reward, EM, validation reward, validation EM',
      'update and length: loss, turns',
      'policy: entropy',
      'episodes: failed calls',
      'time: generation, update',
    ]);
    expect(curveGroups(lines)[3]!.curves[0]!.points).toEqual([
      [1, 0.25],
      [2, 0.5],
    ]);
    expect(curveGroups([])).toEqual([]);
  });

  it('the file has the reward first, and only groups of one unit', () => {
    expect(names(chartGroups(lines))).toEqual([
      'reward: reward, EM, validation EM',
      'policy: entropy',
      'episodes: failed calls',
      'time: generation, update',
    ]);
  });
});

it('a value that is no finite number has no point', () => {
  const rewards = JSON.parse('[1, 1e309, null, 4]') as number[];
  const lines = rewards.map(
    (reward, index): MetricsLine => ({ type: 'rollout', step: index + 1, metrics: { reward } }),
  );
  expect(trainingCurves(lines)).toEqual([
    {
      name: 'reward',
      points: [
        [1, 1],
        [4, 4],
      ],
    },
  ]);
});
