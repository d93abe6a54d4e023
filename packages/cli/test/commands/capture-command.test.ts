/** `toolenv capture` in front of `servePolicy`, and `sft-v1` on its file. */
import { once } from 'node:events';
import { mkdtemp, readFile, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { scriptedPolicy } from '@toolenv/core';
import { servePolicy } from '@toolenv/gateway';
import { expect, it, onTestFinished } from 'vitest';
import { fixture } from '../fixture.ts';
import { runCli } from '../run-cli.ts';
import { startCli } from '../start-cli.ts';

async function folder(): Promise<string> {
  const made = await mkdtemp(join(tmpdir(), 'toolenv-capture-'));
  onTestFinished(() => rm(made, { recursive: true }));
  return made;
}

it('records until Ctrl-C, loses nothing, and prints no key', async () => {
  const service = await servePolicy(
    scriptedPolicy(({ messages }) => `Answer ${messages.length}`),
    { token: 'upstream-key-0123456789' },
  );
  onTestFinished(() => service.close());
  const out = join(await folder(), 'captured.jsonl');
  const env = { ...process.env, SERVER_KEY: 'upstream-key-0123456789' };
  const flags = ['--upstream', `${service.url}/v1`, '--out', out, '--api-key', 'SERVER_KEY', '--port', '0'];
  const { child, finished } = startCli(['capture', ...flags], fixture.folder, env);
  const [line] = (await once(child.stderr!, 'data')) as [string];
  const [, url] =
    / is recorded in \S+captured\.jsonl\. Clients need OPENAI_BASE_URL=(\S+) or \S+, and any key\.\n$/.exec(
      line,
    )!;
  const messages: object[] = [];
  for (const content of ['One', 'Two', 'Three']) {
    messages.push({ role: 'user', content });
    const response = await fetch(`${url}/chat/completions`, {
      method: 'POST',
      body: JSON.stringify({ messages }),
    });
    const { choices } = (await response.json()) as { choices: { message: object }[] };
    messages.push(choices[0]!.message);
  }
  child.kill('SIGINT');
  const { code, stdout, stderr } = await finished;
  expect({ code, stdout }).toEqual({ code: 130, stdout: '' });
  expect(stderr).not.toContain('upstream-key');
  const lines = (await readFile(out, 'utf8')).trim().split('\n');
  expect(lines.map((each) => JSON.parse(each))).toEqual([
    { messages, time: expect.stringMatching(/^\d{4}-.*Z$/) },
  ]);
});

it.each([
  [['--upstream', 'here'], '"here" is not the base URL of a server'],
  [['--upstream', 'http://127.0.0.1:1', '--api-key', 'NO_SUCH_KEY'], 'NO_SUCH_KEY'],
  [
    ['--upstream', 'http://127.0.0.1:1', '--port', '70000'],
    '--port 70000: give a whole number from 0 to 65535',
  ],
  [[], '--upstream'],
])('refuses %j in one line', async (flags, message) => {
  const { code, stderr } = await runCli('capture', '--out', join(await folder(), 'a.jsonl'), ...flags);
  expect(code).toBe(2);
  expect(stderr).toMatch(/^toolenv: .*\n$/);
  expect(stderr).toContain(message);
});

it('says in one line that the file cannot be written', async () => {
  const flags = ['--upstream', 'http://127.0.0.1:1', '--out', '/no/such/folder/a.jsonl', '--port', '0'];
  const { code, stderr } = await runCli('capture', ...flags);
  expect(code).toBe(1);
  expect(stderr).toMatch(
    /^toolenv: \/no\/such\/folder\/a\.jsonl cannot be written .*: choose a folder that exists\.\n$/,
  );
});
