/** The built program loads only the command that was asked for, and also a plugin in TypeScript. */
import { mkdtemp, readdir, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect, it, onTestFinished } from 'vitest';
import { fixture } from '../test/fixture.ts';
import { startCli } from '../test/start-cli.ts';

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
  // Node from 22.18 warns of the missing type by itself, with its remedy.
  expect(stderr).toMatch(/^(\(node:\d+\) \[MODULE_TYPELESS_PACKAGE_JSON\] Warning: [^\n]*\n([^\n]*\n){3})?$/);
  expect([code, stdout]).toEqual([0, expect.stringContaining('guess-v1')]);
});
