/** `toolenv init --mcp`: what it writes is an environment that `toolenv eval` plays. */
import { mkdir, mkdtemp, readdir, readFile, rm, symlink } from 'node:fs/promises';
import { createRequire } from 'node:module';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { afterAll, beforeAll, expect, it, vi } from 'vitest';
import { fixture } from '../../test/fixture.ts';
import { runCliIn } from '../../test/run-cli.ts';

const json = createRequire(import.meta.url).resolve('@modelcontextprotocol/server-everything/package.json');
const server = `'${process.execPath}' '${join(dirname(json), 'dist', 'index.js')}'`;

let folder: string;
beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), 'toolenv-init-'));
  // As npm install would have it, from the registry.
  const installed = join(folder, 'node_modules');
  await mkdir(installed);
  await symlink(join(dirname(json), '..', '..', '@toolenv'), join(installed, '@toolenv'));
  await symlink(fixture.folder, join(installed, 'fixture-plugin'));
});
afterAll(() => rm(folder, { recursive: true }));

const variable = (name: string) => `\x24{${name}}`;
const run = (args: string[], cwd = folder) => runCliIn(cwd, ...args);

it('writes a package, which evaluates', async () => {
  const { code, stdout } = await run(['init', 'my-env', '--mcp', server]);
  expect(code).toBe(0);
  expect(stdout).toContain('npx toolenv eval my-env/my-env-v1 --policy');
  const made = join(folder, 'my-env');
  expect((await readdir(made)).sort()).toEqual(['definition.json', 'env.js', 'package.json', 'tasks.jsonl']);
  const lines = (await readFile(join(made, 'tasks.jsonl'), 'utf8')).trim().split('\n');
  const tasks = lines.map((line) => JSON.parse(line));
  const call = { message: 'text' };
  expect(tasks[0]).toEqual({
    prompt: `Call echo with ${JSON.stringify(call)}. Then answer: done`,
    answer: 'done',
    calls: { echo: call },
    split: 'test',
  });
  expect(tasks.map(({ calls }) => Object.values(calls)[0])).toContainEqual({ a: 1, b: 1 });
  expect(new Set(tasks.map(({ split }) => split))).toEqual(new Set(['train', 'validation', 'test']));

  const args = ['eval', 'my-env/my-env-v1', '--policy', fixture.policy, '--count', '3', '--json'];
  const played = await run([...args, '--env-option', 'maxServers=2'], made);
  expect(played.stderr).not.toMatch(/^toolenv:/m);
  expect(JSON.parse(played.stdout)).toMatchObject({ episodes: 3, aborted: 0, means: { correct: 0 } });
  expect(played.code).toBe(0);

  const oracle = await run(
    ['eval', 'my-env/my-env-v1', '--policy', 'oracle', '--count', '3', '--json'],
    made,
  );
  expect(JSON.parse(oracle.stdout)).toMatchObject({ episodes: 3, aborted: 0, means: { correct: 1 } });

  const again = await run(['init', 'my-env', '--mcp', server]);
  expect(again).toMatchObject({ code: 2, stderr: 'toolenv: my-env is not empty: choose another folder.\n' });
});

it('writes no secret, and names the variables to set', async () => {
  const secret = `${server} stdio --api-key sk-argument`;
  const times = ['--connect-timeout', '60', '--close-grace', '0.5', '--initialize'];
  const flags = ['--env', 'KEY=sk-four-leaves', '--env', `LUCK=${variable('CLOVER')}`, ...times];
  vi.stubEnv('CLOVER', 'green');
  const { code, stdout } = await run(['init', 'secret-env', '--mcp', secret, ...flags]);
  expect(code).toBe(0);
  expect(stdout).toContain('definition.json has no secrets: set API_KEY, KEY.\n');
  const text = await readFile(join(folder, 'secret-env/definition.json'), 'utf8');
  expect(text).not.toContain('sk-');
  const definition = JSON.parse(text);
  expect(definition).toMatchObject({ connectTimeout: 60_000, closeGrace: 500, initialize: true });
  expect(definition.server).toMatchObject({
    args: [expect.any(String), 'stdio', '--api-key', variable('API_KEY')],
    env: { KEY: variable('KEY'), LUCK: variable('CLOVER') },
  });
});

it('refuses a name that no package can have', async () => {
  const { code, stderr } = await run(['init', 'My Env', '--mcp', server]);
  expect({ code, stderr }).toEqual({
    code: 2,
    stderr:
      'toolenv: A package cannot be named "My Env": choose a folder named with lowercase letters, digits and dashes.\n',
  });
});

it.runIf(process.platform === 'linux')('ends where no folder can be made', async () => {
  const { code, stderr } = await run(['init', '/proc/x', '--mcp', server]);
  expect({ code, stderr }).toEqual({
    code: 2,
    stderr: expect.stringMatching(
      /^toolenv: The folder \/proc\/x cannot be made \(.*\): choose another\.\n$/,
    ),
  });
});
