/** `toolenv check` of trainers and of a whole package, which take seconds, and Ctrl-C. */
import { once } from 'node:events';
import { join } from 'node:path';
import type { Report, TrainerShare } from '@toolenv/testing';
import { expect, it } from 'vitest';
import { fixture } from '../test/fixture.ts';
import { runCli } from '../test/run-cli.ts';
import { startCli } from '../test/start-cli.ts';

it('checks a whole package, and prints the reports as JSON', async () => {
  const { code, stdout } = await runCli('check', fixture.folder, '--actions', '50', '--json');
  expect(code).toBe(1);
  const reports = JSON.parse(stdout) as Report[];
  expect(reports.map(({ subject, ok }) => [subject, ok])).toEqual([
    ['fixture-plugin@1.2.3', true],
    ['fixture-plugin/idle-v1, its policy', false],
    ['fixture-plugin/lamp-v1', true],
    ['fixture-plugin/loop-v1', false],
    ['fixture-plugin/nudge-v1', false],
    ['fixture-plugin/precise-v1', false],
    ['fixture-plugin/seeded-v1', false],
    ['fixture-plugin/weight-v1, its policy', false],
    ['fixture-plugin/weight-v1, its learner', false],
  ]);
  expect(reports[5]!.findings[0]).toMatchObject({
    rule: 'TRN-1',
    expected: 'an option "steps", the number of updates',
  });
  expect(reports[7]!.findings[0]).toMatchObject({
    rule: 'POL-7',
    title: 'Overflow',
    expected: expect.stringContaining('context.overflow'),
    hint: expect.stringContaining('context.overflow'),
  });
});

it('compares the first step of trainers in an environment', async () => {
  const tiny = join(import.meta.dirname, '../../checkpoints/tiny');
  const compare = (...args: string[]) =>
    runCli('check', '@toolenv/envs-qa/bridge-v1', '--trainers', ...args, '--policy', tiny);
  const [grpo, ppo] = ['@toolenv/trainer-grpo/grpo-v1', '@toolenv/trainer-ppo/ppo-v1'];
  const { code, stdout } = await compare(grpo, ppo, '--json');
  expect(code).toBe(0);
  const shares = JSON.parse(stdout) as TrainerShare[];
  expect(shares.map(({ trainer, episodes, differences }) => [trainer, episodes, differences])).toEqual([
    [grpo, 16, []],
    [ppo, 16, []],
  ]);
  expect(shares[1]!.sampledTokens).toBe(shares[0]!.sampledTokens);
  const refused = await compare('@toolenv/trainer-sft/sft-v1');
  expect(refused.stderr).toContain('sft-v1 does not learn from the tokens of episodes');
  expect((await compare(grpo, '--adversarial')).stderr).toContain(
    "cannot be used with option '--adversarial'",
  );
});

it('checks a trainer, with its options', async () => {
  const idle = await runCli('check', '@toolenv/trainer-grpo/grpo-v1', '--option', 'learningRate=0');
  expect(idle.code).toBe(1);
  expect(idle.stdout).toMatch(
    /^✘ @toolenv\/trainer-grpo\/grpo-v1 {2}9 rules hold, 1 broken\n {2}✘ TRN-10 Learning\n/,
  );
});

it('checks a trainer that is not a plugin yet', async () => {
  const file = join(import.meta.dirname, '../../../examples/best-of-n.ts');
  const { code, stdout } = await runCli('check', file);
  expect(stdout).toMatch(/^✔ best-of-n\.ts {2}1\d rules hold\n$/);
  expect(code).toBe(0);
});

it('stops at Ctrl-C with exit code 130', async () => {
  const { child, finished } = startCli(['check', fixture.folder, '--actions', '100000000']);
  // The package's report comes first, then that of a policy. The environment comes next, and takes for ever.
  await once(child.stdout!, 'data');
  child.kill('SIGINT');
  const { code, stdout } = await finished;
  expect(code).toBe(130);
  expect(stdout).toMatch(/^✔ fixture-plugin@1\.2\.3 .*\n/);
  expect(stdout).not.toContain(fixture.env);
});
