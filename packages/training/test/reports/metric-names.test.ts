import { expect, test } from 'vitest';
import { metricNames, policyLoss } from '../../src/index.ts';
import { rolloutMetrics } from '../../src/rollouts/rollout-metrics.ts';
import { golden } from '../update/losses/loss-cases.ts';

test('losses and rollouts report no metric without a name in the table', () => {
  const entropy = golden.logprobs;
  const reported = (['dapo', 'cispo', 'sapo'] as const).flatMap((loss) => {
    const options = { loss, clip: [0.2, 0.2], mismatchCorrection: 'token_truncate' } as const;
    return Object.keys(policyLoss({ ...golden, entropy }, options).metrics);
  });
  reported.push(...Object.keys(rolloutMetrics([], { rollout: 1, environment: 0 })));
  expect(reported.length).toBeGreaterThan(20);
  const named = (name: string) =>
    Object.hasOwn(
      metricNames,
      name.replace(/^truncated\/.*/, 'truncated/<reason>').replace(/^mistakes\/.*/, 'mistakes/<kind>'),
    );
  expect(reported.filter((name) => !named(name))).toEqual([]);
});
