/** A certificate is given to environments whose rewards come from their work, and refused to 34 that are wrong on purpose. */
import { expect, test } from 'vitest';
import { certifyEnv, reportText } from '../../src/index.ts';
import { shop } from './shop-env.ts';
import { wrongEnvs } from './wrong-envs.ts';

test('an environment whose rewards come from its work is certified', async () => {
  const report = await certifyEnv(shop(), { tasks: 16 });
  expect(report.findings, reportText(report)).toEqual([]);
  expect(report.passed).toHaveLength(7);
});

test.each(Object.entries(wrongEnvs))('no certificate for %s', async (_, [rule, changes]) => {
  const report = await certifyEnv(shop(changes), { tasks: 16 });
  expect(
    report.findings.map((finding) => finding.rule),
    reportText(report),
  ).toContain(rule);
});
