/** checkScorer: a valid scorer passes, and each broken scorer breaks its rule. */
import { afterAll, expect, test } from 'vitest';
import { assertConforms, checkScorer } from '../src/index.ts';
import { brokenScorers, changed, scorerLeaks, shortness } from './broken-scorers.ts';
import { expectFinding } from './expect-finding.ts';

afterAll(() => scorerLeaks.forEach(clearInterval));

test('a valid scorer passes every rule', async () => {
  const { passed } = await assertConforms(checkScorer(shortness));
  expect(passed).toEqual(['SCR-1', 'SCR-2', 'SCR-3', 'SCR-4', 'SCR-5', 'SCR-6']);
});

test.each(brokenScorers)('%s breaks %s', async (_what, rule, change) => {
  expectFinding(await checkScorer(changed(change)), rule);
});
