/** --only, --env and --header of `toolenv tools`, `init` and `serve`. */
import { mkdir, mkdtemp, readFile, rm, symlink } from 'node:fs/promises';
import { createRequire } from 'node:module';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { connectMcp } from '@toolenv/mcp';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { cli, startCli } from '../test/start-cli.ts';

const json = createRequire(import.meta.url).resolve('@modelcontextprotocol/server-everything/package.json');
const server = `'${process.execPath}' '${join(dirname(json), 'dist', 'index.js')}'`;
const reference = `$${'{TOOLENV_TEST_WORD}'}`;
const withWord = { ...process.env, TOOLENV_TEST_WORD: 'clover' };

let folder: string;
beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), 'toolenv-server-flags-'));
  const installed = join(folder, 'node_modules');
  await mkdir(installed);
  await symlink(join(dirname(json), '..', '..', '@toolenv'), join(installed, '@toolenv'));
});
afterAll(() => rm(folder, { recursive: true }));

const run = (args: string[], env = withWord, cwd = folder) => startCli(args, cwd, env).finished;

it('tools: offers the named tools, and passes variables', async () => {
  const listed = await run(['tools', '--mcp', server, '--only', 'get-sum, echo', '--json']);
  expect(JSON.parse(listed.stdout).map(({ name }: { name: string }) => name)).toEqual(['echo', 'get-sum']);
  const env = ['--env', `WORD=${reference}`, '--env', 'OTHER=1'];
  const called = await run(['tools', '--mcp', server, ...env, '--call', 'get-env']);
  expect(JSON.parse(called.stdout)).toMatchObject({ WORD: 'clover', OTHER: '1' });
});

it('tools: offers resources and prompts', async () => {
  const args = ['tools', '--mcp', server, '--resources', '--prompts', '--json'];
  const names = JSON.parse((await run(args)).stdout).map(({ name }: { name: string }) => name);
  expect(names.slice(-4)).toEqual(['list_resources', 'read_resource', 'list_prompts', 'get_prompt']);
});

it.each([
  [['--only', 'get-summ'], /has no tool "get-summ"\. Did you mean "get-sum"/],
  [['--env', 'WORD'], /^toolenv: env "WORD": write it as NAME=value\.\n$/],
  [['--header', 'A: b'], /^toolenv: --header is for a URL: leave it out, or name another server\.\n$/],
])('refuses %s', async (flags, message) => {
  const { code, stderr } = await run(['tools', '--mcp', server, ...flags]);
  expect({ code, stderr }).toEqual({ code: 2, stderr: expect.stringMatching(message) });
});

it('init: writes them, without the value of a secret; serve: takes further ones', async () => {
  const flags = ['--only', 'get-sum,get-env', '--env', `WORD=${reference}`];
  expect(await run(['init', 'my-env', '--mcp', server, ...flags])).toMatchObject({ code: 0 });
  const definition = JSON.parse(await readFile(join(folder, 'my-env/definition.json'), 'utf8'));
  expect(definition).toMatchObject({ only: ['get-sum', 'get-env'], server: { env: { WORD: reference } } });

  const connection = await connectMcp(
    {
      command: process.execPath,
      // Another dollar sign, so that the served environment reads the variable, and not this process.
      args: [cli, ...['serve', 'my-env/my-env-v1', '--only', 'get-env', '--env', `FLOWER=red $${reference}`]],
      cwd: join(folder, 'my-env'),
      env: { TOOLENV_TEST_WORD: 'clover' },
    },
    // As a client with a session, so that results are those of the environment alone.
    { connectTimeout: 60_000, initialize: true },
  );
  try {
    expect(connection.tools.map(({ name }) => name).sort()).toEqual(['answer', 'get-env']);
    const tool = connection.tools.find(({ name }) => name === 'get-env')!;
    const signal = AbortSignal.timeout(60_000);
    const { content } = await tool.execute(
      {},
      { signal, rng: { int: () => 0 } as never, episodeId: 'a', callIndex: 0 },
    );
    const said = String((content[0] as { text: string }).text);
    expect(JSON.parse(said)).toMatchObject({ WORD: 'clover', FLOWER: 'red clover' });
  } finally {
    await connection.close();
  }
});
