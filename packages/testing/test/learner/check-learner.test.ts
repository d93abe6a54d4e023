/** checkLearner reports each defect under its rule, reports nothing for a valid learner, and restores the weights. */
import { ToolEnvError } from '@toolenv/core';
import type { Learner, TokenBatch, TokenGradients, TokenOutputs } from '@toolenv/core/learner';
import { expect, test } from 'vitest';
import { checkLearner, reportText } from '../../src/index.ts';
import { expectFinding } from '../expect-finding.ts';
import { TableLearner } from '../table-model.ts';
import { brokenLearners } from './broken-learners.ts';

test('a valid learner passes every rule and keeps its weights', async () => {
  const learner = new TableLearner();
  const before = learner.table.slice();
  const report = await checkLearner(learner);
  expect(reportText(report)).toBe('learner: 13 rules hold, 0 broken, 0 not checked.');
  expect(learner.table).toEqual(before);
});

/** Knows the log-probabilities of sampled tokens alone, at temperature 1, as a server does. */
class RemoteTable extends TableLearner {
  override async forward(batch: TokenBatch): Promise<TokenOutputs> {
    if ((batch.temperature ?? 1) !== 1) throw new ToolEnvError('usage.temperature', 'Set --temperature 1.');
    const { entropy: _, ...outputs } = await super.forward(batch);
    return outputs;
  }

  override backward(
    batch: TokenBatch,
    { dEntropy, ...gradients }: TokenGradients,
  ): ReturnType<Learner['backward']> {
    if (dEntropy) throw new ToolEnvError('usage.entropy', 'Set --entropy-coefficient 0.');
    return super.backward(batch, gradients);
  }
}

test('a learner may have no entropy and one temperature', async () => {
  const report = await checkLearner(new RemoteTable());
  expect(report.findings).toEqual([]);
});

test.each(brokenLearners)('%s: %s', async (_, rule, make) => {
  expectFinding(await checkLearner(make(), { timeout: 1000 }), rule);
});
