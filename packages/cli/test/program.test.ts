/** The program loads only the command that was asked for, and its list of commands agrees with the commands. */
import { mkdtemp, readdir, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect, it, onTestFinished } from 'vitest';
import { commands, madeCommand } from '../src/commands/commands.ts';
import { reservedFlags } from '../src/flags/reserved-flags.ts';
import { fixture } from './fixture.ts';
import { runCli } from './run-cli.ts';
import { startCli } from './start-cli.ts';

/** The packages of which the built command loads a file, and the number of files. */
async function loaded(...args: string[]): Promise<{ packages: Set<string>; files: number }> {
  const folder = await mkdtemp(join(tmpdir(), 'toolenv-loaded-'));
  onTestFinished(() => rm(folder, { recursive: true }));
  const env = { ...process.env, NODE_V8_COVERAGE: folder };
  expect(await startCli(args, fixture.folder, env).finished).toMatchObject({ code: 0 });
  const urls = new Set<string>();
  for (const name of await readdir(folder)) {
    const { result } = JSON.parse(await readFile(join(folder, name), 'utf8'));
    for (const { url } of result) if (!/node_modules\/(tsx|esbuild|get-tsconfig)/.test(url)) urls.add(url);
  }
  const files = [...urls].filter((url) => url.startsWith('file:'));
  const names = files.map((url) => /(?:node_modules|packages)\/((?:@[^/]+\/)?[^/]+)/.exec(url)?.[1] ?? url);
  return { packages: new Set(names), files: files.length };
}

it('--version loads commander and the errors of core', async () => {
  const { packages, files } = await loaded('--version');
  expect([...packages].sort()).toEqual(['cli', 'commander', 'core']);
  expect(files).toBeLessThan(25);
});

it('list and info load no trainer, no checks and no model', async () => {
  for (const args of [['list'], ['info', fixture.env]]) {
    const { packages } = await loaded(...args);
    for (const name of [
      'training',
      'testing',
      'fast-check',
      'policy',
      'mcp',
      'tools-search',
      'cli-progress',
      'protobufjs',
    ])
      expect([...packages], args[0]).not.toContain(name);
  }
});

it.each(Object.keys(commands))('%s has the usage that the help of the program shows', async (name) => {
  expect((await madeCommand(name)).usage()).toBe(commands[name]![0]);
});

it('no option of an environment takes the flag of a command that opens environments', async () => {
  const owners = new Map<string, string>();
  for (const name of ['eval', 'baseline', 'train', 'rollout', 'play', 'serve', 'check', 'info']) {
    for (const option of (await madeCommand(name)).options) {
      if (option.helpGroupHeading?.startsWith('Options of @toolenv/')) continue;
      const flag = option.attributeName();
      if (!owners.has(flag)) owners.set(flag, `toolenv ${name}`);
    }
  }
  owners.set('help', 'toolenv').set('version', 'toolenv');
  expect(reservedFlags).toEqual(owners);
});

it('-h, --help and help show the same help, and -V the version', async () => {
  for (const command of [[], ['train']]) {
    const long = await runCli(...command, '--help');
    expect(long).toMatchObject({ code: 0, stderr: '' });
    expect(long.stdout).toContain('-h, --help');
    expect(await runCli(...command, '-h')).toEqual(long);
    expect(await runCli('help', ...command)).toEqual(long);
  }
  expect((await runCli('help', 'train', '--all')).stdout).toContain('--warmup-ratio');
  expect(await runCli('-V')).toEqual(await runCli('--version'));
  expect(await runCli('help', 'nothing')).toMatchObject({
    code: 2,
    stderr: "toolenv: Unknown command 'nothing'. See --help.\n",
  });
});

it('suggests a command for an unknown one', async () => {
  expect(await runCli('evla')).toEqual({
    code: 2,
    stdout: '',
    stderr: "toolenv: Unknown command 'evla' (Did you mean eval?) See --help.\n",
  });
});

it('a TypeScript file in a package that does not say "type": "module" is loaded', async () => {
  // Inside the repository, so that imports find the packages.
  const folder = await mkdtemp(join(import.meta.dirname, 'commonjs-'));
  onTestFinished(() => rm(folder, { recursive: true }));
  await writeFile(join(folder, 'package.json'), '{}');
  const guess = `import { defineToolEnv } from '@toolenv/core';
export default defineToolEnv({
  name: 'guess-v1',
  description: 'Guess.',
  tasks: { train: [{ word: 'sky' }], test: [{ word: 'sea' }] },
  rewards: { right: { kind: 'outcome', score: ({ answer, task }) => Number(answer === task.word) } },
  episode: () => ({ messages: 'Guess.' }),
});
`;
  await writeFile(join(folder, 'guess-v1.ts'), guess);
  const { code, stdout, stderr } = await startCli(['info', 'guess-v1.ts'], folder).finished;
  expect(stderr).toBe('');
  expect([code, stdout]).toEqual([0, expect.stringContaining('guess-v1')]);
});
