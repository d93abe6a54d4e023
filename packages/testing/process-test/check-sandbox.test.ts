/** checkSandbox reports each defect under its rule, and reports nothing for a valid provider. */
import { expect, test } from 'vitest';
import type { VirtualOptions } from '../../sandbox/src/virtual/virtual-v1.ts';
import virtual from '../../sandbox/src/virtual/virtual-v1.ts';
import { checkSandbox, reportText } from '../src/index.ts';
import { brokenSandboxes } from '../test/broken-sandboxes.ts';
import { expectFinding } from '../test/expect-finding.ts';

const options: Partial<VirtualOptions> = { spare: 0, disk: 1 };

test('a valid provider passes every rule', async () => {
  const report = await checkSandbox(virtual, { options });
  expect(reportText(report)).toBe('virtual-v1: 8 rules hold, 0 broken, 0 not checked.');
});

test('where no sandbox can be made, the rules that need one are skipped with the reason', async () => {
  const absent = { ...virtual, inspect: async () => ({ problem: 'no bwrap', limits: {}, orphans: [] }) };
  const { ok, skipped } = await checkSandbox(absent);
  expect(ok).toBe(true);
  expect(skipped.map(({ reason }) => reason)).toEqual(Array(7).fill('no bwrap'));
});

test.each(brokenSandboxes)('%s: %s', async (_, rule, change) => {
  expectFinding(await checkSandbox({ ...virtual, ...change }, { options, rules: [rule] }), rule);
});
