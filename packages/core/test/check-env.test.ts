/** checkEnv finds what is broken under the right rule, and nothing in what is good. */
import { afterEach, expect, test } from 'vitest';
import { assertConforms, checkEnv, reportText } from '../src/testing/index.ts';
import { brokenEnvs, climbing, ladderDefinition, leaks } from './broken-envs.ts';

const options = { tools: climbing, patience: 200, actions: 150, seed: 1 };

afterEach(() => {
  for (const timer of leaks.splice(0)) clearInterval(timer);
});

test('a good environment keeps every rule', async () => {
  const report = await checkEnv(ladderDefinition(), options);
  expect(reportText(report)).toMatch(/^ladder-v1: 35 rules hold, 0 are broken, 0 were not checked\.$/);
  expect(report.skipped).toEqual([]);
});

test.each(brokenEnvs)('%s: %s', async (_, rule, changes) => {
  const report = await checkEnv(ladderDefinition(changes), options);
  expect(
    report.findings.map((finding) => finding.rule),
    reportText(report),
  ).toEqual([rule]);
  const [finding] = report.findings;
  expect(finding!.expected).not.toBe('');
  expect(finding!.received).not.toBe('');
  expect(finding!.mend).not.toBe('');
  await expect(assertConforms(report)).rejects.toMatchObject({ code: 'bug.conformance' });
});
