/** `toolenv capture` in front of `servePolicy`. */
import { once } from 'node:events';
import { mkdtemp, readFile, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { scriptedPolicy } from '@toolenv/core';
import { servePolicy } from '@toolenv/gateway';
import { expect, it, onTestFinished } from 'vitest';
import { fixture } from '../../test/fixture.ts';
import { startCli } from '../../test/start-cli.ts';

it('records until Ctrl-C, loses nothing, and prints no key', async () => {
  const service = await servePolicy(
    scriptedPolicy(({ messages }) => `Answer ${messages.length}`),
    { token: 'upstream-key-0123456789' },
  );
  onTestFinished(() => service.close());
  const folder = await mkdtemp(join(tmpdir(), 'toolenv-capture-'));
  onTestFinished(() => rm(folder, { recursive: true }));
  const out = join(folder, 'captured.jsonl');
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
