/** checkPolicy reports each defect under its rule, and reports nothing for a valid policy. */
import { type Policy, scriptedPolicy } from '@toolenv/core';
import { expect, test } from 'vitest';
import { checkPolicy, reportText } from '../src/index.ts';
import { brokenPolicies } from './broken-policies.ts';
import { expectFinding } from './expect-finding.ts';
import { TablePolicy } from './table-model.ts';

test('a valid policy passes every rule', async () => {
  const report = await checkPolicy(new TablePolicy());
  expect(reportText(report)).toBe('policy table: 13 rules hold, 0 broken, 1 not checked.');
});

test('a policy without tokens and with an unlimited context passes too', async () => {
  const report = await checkPolicy(scriptedPolicy(() => 'yes'));
  expect(report).toMatchObject({
    ok: true,
    skipped: [{ rule: 'POL-7' }, { rule: 'POL-12' }, { rule: 'POL-13' }, { rule: 'POL-14' }],
  });
});

test.each(brokenPolicies)('%s: %s', async (_, rule, change) => {
  const good = new TablePolicy();
  const policy: Policy = { spec: good.spec, act: (...args) => good.act(...args), ...change() };
  expectFinding(await checkPolicy(policy, { timeout: 500 }), rule);
});
