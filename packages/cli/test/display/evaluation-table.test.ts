import type { Evaluation } from '@toolenv/training';
import { expect, it } from 'vitest';
import { comparisonTable } from '../../src/display/comparison-table.ts';
import { evaluationTable } from '../../src/display/evaluation-table.ts';

const evaluation: Evaluation = {
  episodes: 8,
  aborted: 1,
  faults: { 'infrastructure.timeout': 1 },
  means: { right: 0.5 },
  reward: 0.5,
  intervals: { right: null },
  rewardInterval: null,
  samples: 1,
  outcomes: { 'terminated:answered': 7 },
  toolCalls: 0,
  turns: 1,
  tokens: 10,
  seconds: 2,
  tasks: [],
};

it('counts episodes that ended without a score', () => {
  const unscored = { ...evaluation, unscored: 3 };
  expect(evaluationTable(unscored)).toMatch(/^ {2}episodes +8, 3 ended without a score, in 0:02/m);
  expect(evaluationTable(evaluation)).toMatch(
    /^ {2}right +0.500\n {2}left out +13 % aborted \(timeout 13 %\)$[\s\S]*^ {2}episodes +8, in 0:02$/m,
  );
  const compared = [
    { policy: 'a', evaluation },
    { policy: 'b', evaluation: unscored },
  ];
  expect(comparisonTable(compared)).toMatch(/^ {2}not scored +0 +3$/m);
  expect(comparisonTable(compared)).toMatch(/^ {2}left out +13 % aborted \(timeout 13 %\)/m);
  expect(comparisonTable([{ policy: 'a', evaluation }])).not.toContain('not scored');
});
