/** checkPolicy finds what is broken under the right rule, and nothing in what is good. */

import { type Policy, scriptedPolicy } from '@toolenv/core';
import { expect, test } from 'vitest';
import { checkPolicy, reportText } from '../src/index.ts';
import { brokenPolicies } from './broken-policies.ts';
import { TablePolicy } from './table-model.ts';

test('a good policy keeps every rule', async () => {
  const report = await checkPolicy(new TablePolicy());
  expect(reportText(report)).toBe('policy table: 11 rules hold, 0 are broken, 0 were not checked.');
});

test('a policy without tokens and without end does too', async () => {
  const report = await checkPolicy(scriptedPolicy(() => 'yes'));
  expect(report).toMatchObject({ ok: true, skipped: [{ rule: 'POL-7' }] });
});

test.each(brokenPolicies)('%s: %s', async (_, rule, change) => {
  const good = new TablePolicy();
  const policy: Policy = { spec: good.spec, act: (...args) => good.act(...args), ...change() };
  const report = await checkPolicy(policy, { timeout: 500 });
  expect(
    report.findings.map((finding) => finding.rule),
    reportText(report),
  ).toEqual([rule]);
});
