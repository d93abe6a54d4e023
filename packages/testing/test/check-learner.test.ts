/** checkLearner finds what is broken under the right rule, and nothing in what is good; it leaves the weights as they were. */
import { expect, test } from 'vitest';
import { checkLearner, reportText } from '../src/index.ts';
import { brokenLearners } from './broken-learners.ts';
import { TableLearner } from './table-model.ts';

test('a good learner keeps every rule, and its weights', async () => {
  const learner = new TableLearner();
  const before = learner.table.slice();
  const report = await checkLearner(learner);
  expect(reportText(report)).toBe('learner: 11 rules hold, 0 are broken, 0 were not checked.');
  expect(learner.table).toEqual(before);
});

test.each(brokenLearners)('%s: %s', async (_, rule, make) => {
  const report = await checkLearner(make(), { timeout: 1000 });
  expect(
    report.findings.map((finding) => finding.rule),
    reportText(report),
  ).toEqual([rule]);
});
