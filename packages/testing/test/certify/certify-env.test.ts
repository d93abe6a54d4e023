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

const learned = {
  ...{ policy: 'small', minutes: 5, updates: 100, demonstrations: 512, split: 'test', tasks: 64 },
  curve: [{ minutes: 0, reward: 0.1 }],
};

test.each([
  ['a policy that learns', 0.1, 0.4, [0.2, 0.4], []],
  ['a gain that may be chance', 0.1, 0.2, [-0.01, 0.2], ['CERT-8']],
  ['a loss', 0.4, 0.1, [-0.4, -0.2], ['CERT-8']],
  ['too few tasks', 0, 1, null, ['CERT-8']],
] as const)('%s', async (_, before, after, interval, found) => {
  const learn = async () => ({ ...learned, before, after, interval });
  const report = await certifyEnv(shop(), { tasks: 4, learn });
  expect(report.findings.map(({ rule }) => rule)).toEqual(found);
  expect(report.passed).toHaveLength(8 - found.length);
  expect(report.certificate!.learned).toMatchObject({ before, after });
});
