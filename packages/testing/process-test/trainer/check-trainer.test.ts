/** checkTrainer reports each defect under its rule, and reports nothing for a valid trainer. */
import { expect, test } from 'vitest';
import { BanditModel, checkLearner, checkTrainer, reportText } from '../../src/index.ts';
import { expectFinding } from '../../test/expect-finding.ts';
import { brokenTrainers, goodTrainer } from '../../test/trainer/broken-trainers.ts';

test('a valid trainer passes every rule', async () => {
  const report = await checkTrainer(goodTrainer);
  expect(reportText(report)).toBe('reinforce: 10 rules hold, 0 broken, 0 not checked.');
});

test.each(brokenTrainers)('%s: %s', async (_, rule, trainer) => {
  const report = await checkTrainer(trainer, { timeout: 2000, rules: [rule] });
  expect(expectFinding(report, rule).hint).not.toBe('');
});

test('a broken rule is the only one that the whole check reports', async () => {
  const [, rule, trainer] = brokenTrainers.find(
    ([what]) => what === 'another error than the reason of the signal',
  )!;
  const report = await checkTrainer(trainer);
  expectFinding(report, rule);
  expect(report.passed.length).toBe(9);
});

test('options of the caller reach every run', async () => {
  const report = await checkTrainer(goodTrainer, { options: { learningRate: 0 }, rules: ['TRN-10'] });
  expect(expectFinding(report, 'TRN-10').received).toBe('0.500');
  await expect(checkTrainer(goodTrainer, { options: { learningRate: -1 } })).rejects.toMatchObject({
    code: 'usage.bad_option',
  });
});

test('the model of the bandit follows the rules for learners', async () => {
  const report = await checkLearner(new BanditModel(16));
  expect(reportText(report)).toBe('learner: 13 rules hold, 0 broken, 0 not checked.');
});
