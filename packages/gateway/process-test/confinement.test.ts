/** Confined programs: they reach their model and their folders, and nothing else of the machine. */
import { execFileSync } from 'node:child_process';
import { existsSync } from 'node:fs';
import { mkdtemp, readFile, rm, writeFile } from 'node:fs/promises';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { openEnv, playTask } from '@toolenv/core';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { type AgentContext, type CommandOptions, command, defineAgentEnv } from '../src/index.ts';

const missing = existsSync('/usr/bin/bwrap') ? '' : 'no bubblewrap';

/** Asks the model, and prints what `looks` does. */
const program = (looks: string) => `
import { readFileSync, readdirSync, writeFileSync } from 'node:fs';
const { OPENAI_BASE_URL, OPENAI_API_KEY } = process.env;
const ask = async () => {
  const response = await fetch(OPENAI_BASE_URL + '/chat/completions', {
    method: 'POST',
    headers: { authorization: 'Bearer ' + OPENAI_API_KEY },
    body: JSON.stringify({ messages: [{ role: 'user', content: 'q' }] }),
  });
  return (await response.json()).choices[0].message.content;
};
const tried = async (work) => { try { return await work(); } catch (error) { return error.cause?.code ?? error.code; } };
const said = await ask();
${looks}
`;

describe.skipIf(missing !== '')(`confined programs${missing && ` (skipped: ${missing})`}`, () => {
  let folder: string;
  beforeAll(async () => {
    folder = await mkdtemp(join(tmpdir(), 'confined-'));
    await writeFile(join(folder, 'tasks.jsonl'), 'hidden');
  });
  afterAll(() => rm(folder, { recursive: true, force: true }));

  /** What the program prints, read as JSON. */
  async function played(looks: string, options: CommandOptions<never> = {}, toolTimeout = 20_000) {
    let printed: unknown;
    const args = ['--input-type=module', '-e', program(looks)];
    const env = defineAgentEnv({
      name: 'confined-v1',
      description: 'A confined program.',
      limits: { toolTimeout },
      tasks: { test: [{}] },
      async agent(context: AgentContext) {
        const { stdout } = await command(process.execPath, args, { confine: true, ...options })(context);
        printed = JSON.parse(stdout);
      },
      rewards: {},
    });
    await using opened = await openEnv(env);
    const { outcome } = await playTask(opened, {}, ['yes'], { retries: 0 });
    return { outcome, printed };
  }

  test('it reaches its model, and no other server of the machine', async () => {
    const other = createServer((_, response) => response.end('seen'));
    await new Promise<void>((resolve) => other.listen(0, '127.0.0.1', resolve));
    const url = `http://127.0.0.1:${(other.address() as AddressInfo).port}`;
    const looks = `console.log(JSON.stringify([said, await tried(async () => (await fetch('${url}')).text())]));`;
    try {
      const { outcome, printed } = await played(looks);
      expect([outcome, printed]).toEqual([
        { kind: 'terminated', reason: 'answered' },
        ['yes', 'ECONNREFUSED'],
      ]);
      expect((await played(looks, { confine: { network: true } })).printed).toEqual(['yes', 'seen']);
    } finally {
      other.close();
    }
  });

  test('it sees no process but its own, and no file but what it is given', async () => {
    const files = JSON.stringify([
      join(folder, 'tasks.jsonl'),
      '/etc/shadow',
      join(import.meta.dirname, 'command.test.ts'),
    ]);
    const looks = `
      const names = readdirSync('/proc').filter((name) => /^[0-9]+$/.test(name));
      const programs = names.map((name) => readFileSync('/proc/' + name + '/cmdline', 'utf8').split('\\0')[0]).sort();
      const files = await Promise.all(${files}.map((file) => tried(() => readFileSync(file, 'utf8'))));
      const root = await tried(() => writeFileSync('/usr/x', ''));
      console.log(JSON.stringify([programs, files, root, readdirSync('/tmp').filter((name) => !process.execPath.startsWith('/tmp/' + name + '/'))]));
    `;
    const gone = 'ENOENT';
    expect((await played(looks)).printed).toEqual([
      [process.execPath, '/run/toolenv/node', 'bwrap'].sort(),
      [gone, gone, gone],
      'EROFS',
      ['home'],
    ]);
  });

  test('it changes its working folder and its home, and reads what it is given', async () => {
    const [cwd, home] = [await mkdtemp(join(folder, 'cwd-')), await mkdtemp(join(folder, 'home-'))];
    const given = join(folder, 'tasks.jsonl');
    const looks = `
      writeFileSync('made', process.cwd());
      writeFileSync(process.env.HOME + '/made', '');
      console.log(JSON.stringify([readFileSync('${given}', 'utf8'), await tried(() => writeFileSync('${given}', 'x'))]));
    `;
    const { printed } = await played(looks, { cwd, env: { HOME: home }, confine: { read: [given] } });
    expect(printed).toEqual(['hidden', 'EROFS']);
    expect([await readFile(join(cwd, 'made'), 'utf8'), existsSync(join(home, 'made'))]).toEqual([cwd, true]);
  });

  test('nothing that it has started outlives the episode', async () => {
    const word = `left-${process.pid}`;
    const looks = `
      const { spawn } = await import('node:child_process');
      spawn(process.execPath, ['-e', 'setInterval(() => {}, 1000)', '${word}'], { detached: true, stdio: 'ignore' });
      setInterval(() => {}, 1000);
    `;
    const { outcome } = await played(looks, {}, 1500);
    expect(outcome).toEqual({ kind: 'truncated', reason: 'deadline' });
    const lines = execFileSync('ps', ['-eo', 'args'], { maxBuffer: 2 ** 28 })
      .toString()
      .split('\n');
    expect(lines.filter((line) => line.includes(word))).toEqual([]);
  });

  test('its exit code and its errors are those of the program', async () => {
    const { outcome } = await played(`console.error('broken'); process.exit(3);`);
    expect(outcome).toMatchObject({
      kind: 'aborted',
      cause: { message: expect.stringMatching(/exit code 3: broken/) },
    });
    const env = defineAgentEnv({
      name: 'missing-v1',
      description: 'A program that is not there.',
      tasks: { test: [{}] },
      agent: command('no-such-program', ['--once'], { confine: true }),
      rewards: {},
    });
    const ended = (await playTask(env, {}, ['yes'], { retries: 0 })).outcome;
    expect(ended).toMatchObject({
      cause: { message: expect.stringMatching(/no-such-program .*name the folder where it is installed/) },
    });
  });
});
