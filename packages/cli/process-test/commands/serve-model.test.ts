/** `toolenv serve --openai` as a server, with the client of `toolenv eval`. */
import { once } from 'node:events';
import { join } from 'node:path';
import { expect, it } from 'vitest';
import { fixture } from '../../test/fixture.ts';
import { runCli } from '../../test/run-cli.ts';
import { startCli } from '../../test/start-cli.ts';

const checkpoint = join(import.meta.dirname, '../../../checkpoints/tiny');

it('serves a policy to clients of models until Ctrl-C, with one line that says how to use it', async () => {
  const flags = [
    '--http',
    '0',
    '--threads',
    '1',
    '--max-tokens',
    '4',
    '--temperature',
    '0',
    '--model-name',
    'tiny',
  ];
  const { child, finished } = startCli(['serve', '--openai', checkpoint, ...flags]);
  const [line] = (await once(child.stderr!, 'data')) as [string];
  const [, url] =
    / is served\. Clients need OPENAI_BASE_URL=(\S+)\/v1 or ANTHROPIC_BASE_URL=\1, and any key\.\n$/.exec(
      line,
    )!;
  expect(line.startsWith(checkpoint)).toBe(true);
  expect(await (await fetch(`${url}/v1/models`)).json()).toMatchObject({ data: [{ id: 'tiny' }] });
  const body = JSON.stringify({ messages: [{ role: 'user', content: 'Who?' }], max_tokens: 100 });
  const answer = await fetch(`${url}/v1/chat/completions`, { method: 'POST', body });
  expect(await answer.json()).toMatchObject({
    choices: [{ message: { role: 'assistant' }, finish_reason: 'length' }],
    usage: { completion_tokens: 4 },
  });
  child.kill('SIGINT');
  expect(await finished).toMatchObject({ code: 130, stdout: '' });
});

it('plays for `toolenv eval`, which speaks to it as to any server', async () => {
  const { child, finished } = startCli(['serve', '--openai', 'idle', '--http', '0', '--max-tokens', '8']);
  const [line] = (await once(child.stderr!, 'data')) as [string];
  const [, url] = /OPENAI_BASE_URL=(\S+) /.exec(line)!;
  const flags = ['--policy', `openai:${url}`, '--count', '2', '--json', '--request-retries', '0'];
  const { code, stdout } = await runCli('eval', fixture.env, ...flags);
  expect(code).toBe(0);
  expect(JSON.parse(stdout)).toMatchObject({ episodes: 2, policy: `openai:${url}` });
  child.kill('SIGTERM');
  expect((await finished).code).toBe(143);
});

it('makes a token for an address that other machines reach, and prints it', async () => {
  const { child, finished } = startCli(['serve', '--openai', 'idle', '--http', '0', '--host', '0.0.0.0']);
  let printed = '';
  child.stderr!.on('data', (text) => {
    printed += text;
  });
  await expect
    .poll(() => printed, { timeout: 50_000 })
    .toMatch(/and the token as key\.\nThe token: [0-9a-f]{64}\n$/);
  const [, port] = /:(\d+)\/v1 /.exec(printed)!;
  const [, token] = /token: (\S+)/.exec(printed)!;
  const models = (key: string) =>
    fetch(`http://127.0.0.1:${port}/v1/models`, { headers: { 'x-api-key': key } });
  expect([(await models('none')).status, (await models(token!)).status]).toEqual([401, 200]);
  child.kill('SIGINT');
  await finished;
});
