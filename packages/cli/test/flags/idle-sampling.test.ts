/** A flag of the sampler that changes nothing, and was meant for the environment. */
import { expect, it } from 'vitest';
import { fixture } from '../fixture.ts';
import { runCli } from '../run-cli.ts';

const bridge = '@toolenv/envs-qa/bridge-v1';
const warning = `--top-k is a flag of the sampler, and has no effect at temperature 0. To set the option of ${bridge}, give --env-top-k 2.\n`;

it.each([
  ['the environment has the option too', [bridge], warning],
  [
    'the environment has no such option',
    [fixture.env],
    '--top-k is a flag of the sampler, and has no effect at temperature 0. Give --temperature too, or leave it out.\n',
  ],
  ['the sampler draws', [bridge, '--temperature', '1'], ''],
])('eval --top-k where %s', async (_, args, expected) => {
  const rest = ['--policy', fixture.policy, '--count', '1', '--top-k', '2', '--json'];
  const { code, stdout, stderr } = await runCli('eval', ...args, ...rest);
  const withoutProgress = stderr.replaceAll(/^episodes .*\n/gm, '');
  expect([code, withoutProgress]).toEqual([0, expected]);
  expect(JSON.parse(stdout)).toMatchObject({ topK: 2 });
});
