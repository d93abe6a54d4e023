/** checkLearner reports each defect under its rule, reports nothing for a valid learner, and restores the weights. */
import { expect, test } from 'vitest';
import { checkLearner, reportText } from '../../src/index.ts';
import { expectFinding } from '../expect-finding.ts';
import { TableLearner } from '../table-model.ts';
import { brokenLearners } from './broken-learners.ts';

test('a valid learner passes every rule and keeps its weights', async () => {
  const learner = new TableLearner();
  const before = learner.table.slice();
  const report = await checkLearner(learner);
  expect(reportText(report)).toBe('learner: 12 rules hold, 0 broken, 0 not checked.');
  expect(learner.table).toEqual(before);
});

test.each(brokenLearners)('%s: %s', async (_, rule, make) => {
  expectFinding(await checkLearner(make(), { timeout: 1000 }), rule);
});
