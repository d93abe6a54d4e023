/** checkTrainer reports each defect under its rule, and reports nothing for a valid trainer. */
import { expect, test } from 'vitest';
import { BanditModel, checkLearner, checkTrainer, reportText } from '../../src/index.ts';
import { expectFinding } from '../expect-finding.ts';
import { brokenTrainers, goodTrainer } from './broken-trainers.ts';

test('a valid trainer passes every rule', async () => {
  const report = await checkTrainer(goodTrainer);
  expect(reportText(report)).toBe('reinforce: 10 rules hold, 0 broken, 0 not checked.');
});

test.each(brokenTrainers)('%s: %s', async (_, rule, trainer) => {
  const finding = expectFinding(await checkTrainer(trainer, { timeout: 2000 }), rule);
  expect(finding.hint).not.toBe('');
});

test('options of the caller reach every run', async () => {
  const report = await checkTrainer(goodTrainer, { options: { learningRate: 0 } });
  expect(expectFinding(report, 'TRN-10').received).toBe('0.500');
  await expect(checkTrainer(goodTrainer, { options: { learningRate: -1 } })).rejects.toMatchObject({
    code: 'usage.bad_option',
  });
});

test('the model of the bandit follows the rules for learners', async () => {
  const report = await checkLearner(new BanditModel(16));
  expect(reportText(report)).toBe('learner: 12 rules hold, 0 broken, 0 not checked.');
});
