/** The command line of `toolenv capture`. */
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect, it, onTestFinished } from 'vitest';
import { runCli } from '../run-cli.ts';

async function folder(): Promise<string> {
  const made = await mkdtemp(join(tmpdir(), 'toolenv-capture-'));
  onTestFinished(() => rm(made, { recursive: true }));
  return made;
}

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
