/** `toolenv eval` with several episodes of each task. */
import { expect, it } from 'vitest';
import { fixture, runCli } from '../run-cli.ts';

const often = ['--count', '6', '--samples', '4', '--temperature', '1'];

it('shows means with their intervals, and pass@k', async () => {
  const { code, stdout, stderr } = await runCli('eval', fixture.env, '--policy', fixture.policy, ...often);
  expect(code).toBe(0);
  expect(stderr).toContain('24/24');
  const number = String.raw`\d\.\d{3}`;
  expect(stdout).toContain('means with 95 % confidence intervals over tasks');
  for (const name of ['reward', 'EM', 'tidy', 'EM pass@1', 'EM pass@2', 'EM pass@4'])
    expect(stdout).toMatch(new RegExp(`^  ${name} +${number} \\(-?${number} to ${number}\\)$`, 'm'));
  expect(stdout).not.toContain('pass@3');
});

it('prints them as JSON', async () => {
  const { stdout } = await runCli('eval', fixture.env, '--policy', fixture.policy, ...often, '--json');
  const { episodes, means, intervals, pass } = JSON.parse(stdout);
  expect(episodes).toBe(24);
  expect(pass.score).toBe('em');
  expect(pass.at['1'].mean).toBeCloseTo(means.em, 12);
  expect(pass.at['4'].mean).toBeGreaterThanOrEqual(pass.at['2'].mean);
  expect(intervals.em[0]).toBeLessThanOrEqual(means.em);
  expect(intervals.em[1]).toBeGreaterThanOrEqual(means.em);
});
