/** The command line of `toolenv serve --openai`. */
import { join } from 'node:path';
import { expect, it } from 'vitest';
import { fixture } from '../fixture.ts';
import { runCli } from '../run-cli.ts';

const checkpoint = join(import.meta.dirname, '../../../checkpoints/tiny');

it.each([
  [['serve', fixture.env, '--openai', 'idle'], 'Serve fixture-plugin/lamp-v1 or --openai idle: one of them'],
  [['serve', '--openai', 'idle', '--split', 'train'], '--split is not for --openai: leave it out.'],
  [['serve', '--openai', 'idle', '--tool', 'search=x'], '--tool is not for --openai: leave it out.'],
  [['serve', fixture.env, '--http', '0', '--queue', '3'], '--queue is for --openai: leave it out.'],
  [['serve', '--openai', 'oracle', '--http', '0'], 'The oracle plays the tasks of an environment'],
  [
    ['serve', '--openai', 'idle', '--http', '0', '--temperature', '3'],
    '--temperature 3: give a number from 0 to 2',
  ],
  [['serve', '--openai', 'idle', '--http', '0', '--token', 'short'], 'The token is not usable'],
  [['serve', '--openai', 'idle', '--http', '0', '--reconnect-timeout', '5'], 'reconnectTimeout'],
  [['serve', '--openai', '/no/such/folder', '--http', '0'], '/no/such/folder'],
  [['serve'], 'a policy with --openai <policy>'],
])('refuses %j in one line', async (words, message) => {
  const { code, stderr } = await runCli(...words);
  expect(code).toBe(2);
  expect(stderr).toMatch(/^toolenv: .*\n$/);
  expect(stderr).toContain(message);
});

it('lists the options of the policy and of serving it', async () => {
  const { stdout } = await runCli('serve', '--openai', checkpoint, '--help', '--all');
  for (const flag of [
    '--openai <policy>',
    '--queue <n>',
    '--conversations <n>',
    '--threads <n>',
    '--top-p <x>',
  ])
    expect(stdout).toContain(flag);
});
