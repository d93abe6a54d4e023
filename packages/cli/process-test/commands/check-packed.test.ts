/** `toolenv check <folder>` checks what npm would publish of a package, away from the files of its author. */
import { mkdir, mkdtemp, readdir, rm, symlink, utimes, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect, onTestFinished, test } from 'vitest';
import { startCli } from '../../test/start-cli.ts';

const modules = join(import.meta.dirname, '../../../../node_modules/@toolenv');

/**
 * @param rows How the environment names its file of tasks.
 * @param changes Of package.json.
 */
async function quiz(rows: string, files: readonly string[], changes: object = {}): Promise<string> {
  const folder = await mkdtemp(join(tmpdir(), 'toolenv-packed-'));
  onTestFinished(() => rm(folder, { recursive: true }));
  const manifest = {
    name: 'quiz',
    version: '1.0.0',
    type: 'module',
    keywords: ['toolenv-plugin'],
    exports: { './quiz-v1': './dist/quiz-v1.js' },
    files,
    toolenv: { spec: 'v1', envs: { 'quiz-v1': './quiz-v1' } },
    ...changes,
  };
  const module = `
    import { defineToolEnv } from '@toolenv/core';
    import { dataset } from '@toolenv/dataset';
    export default defineToolEnv({
      name: 'quiz-v1',
      description: 'Sums.',
      tasks: { train: dataset(${rows}, { map: (row) => row }) },
      rewards: { right: { kind: 'outcome', score: ({ answer, task }) => Number(answer === task.answer) } },
      episode: ({ task }) => ({ messages: task.question }),
      oracle: ({ answer }) => [answer],
    });`;
  for (const made of ['dist', 'src', 'node_modules']) await mkdir(join(folder, made));
  await symlink(modules, join(folder, 'node_modules/@toolenv'));
  await writeFile(join(folder, 'package.json'), JSON.stringify(manifest));
  await writeFile(join(folder, 'dist/quiz-v1.js'), module);
  await writeFile(join(folder, 'src/rows.csv'), 'question,answer\n1+1,2\n2+2,4\n3+3,6\n');
  return folder;
}

const beside = "new URL('../src/rows.csv', import.meta.url)";

test.each([
  ['that is not packed', beside, ['dist']],
  ['that is found by the working folder', "'src/rows.csv'", ['dist', 'src']],
])('a file of tasks %s is an error, though it is there', async (_, rows, files) => {
  const folder = await quiz(rows, files);
  const { code, stderr } = await startCli(['check', '.', '--actions', '20'], folder).finished;
  expect(code).toBe(2);
  expect(stderr).toContain('toolenv: Cannot read src/rows.csv (ENOENT');
  expect(stderr).toContain(
    'npm does not publish all that the package needs: name its data in "files" of package.json',
  );
  expect(await readdir(join(folder, 'node_modules'))).toEqual(['@toolenv']);
});

test('a file of tasks that is packed is read', async () => {
  const folder = await quiz(beside, ['dist', 'src/rows.csv']);
  const { code, stdout } = await startCli(['check', '.', '--actions', '20'], folder).finished;
  expect(stdout).toMatch(/^✔ quiz@1\.0\.0 {2}7 rules hold\n✔ quiz\/quiz-v1 {2}\d\d rules hold\n/);
  expect(code).toBe(0);
  expect(await readdir(join(folder, 'node_modules'))).toEqual(['@toolenv']);
});

test('a module that is not packed is an entry without a file', async () => {
  const folder = await quiz(beside, ['src']);
  const { code, stdout } = await startCli(['check', '.'], folder).finished;
  expect(code).toBe(1);
  expect(stdout).toContain('✘ PLUG-3');
  expect(stdout).toContain(`${folder} (packed)/dist/quiz-v1.js`);
});

/** What `toolenv check` says of a package with the built file `module`. */
async function said(changes: object, module?: string): Promise<string> {
  const folder = await quiz(beside, ['dist', 'src/rows.csv'], changes);
  if (module) await writeFile(join(folder, 'dist/quiz-v1.js'), module);
  const { stdout, stderr } = await startCli(['check', '.', '--actions', '20'], folder).finished;
  return `${stdout}${stderr}`;
}

test.each<[what: string, changes: object, module: string | undefined, says: RegExp]>([
  [
    'no type of modules',
    { type: undefined },
    undefined,
    /! WARN-13 No type of modules\n +expected "type": "module" in package\.json\n +received no "type", and import or export in dist\/quiz-v1\.js/,
  ],
  [
    'the type of CommonJS',
    { type: 'commonjs' },
    'export default 1;',
    /✘ PLUG-4[\s\S]*hint +It is an ES module: add "type": "module" to its package\.json\./,
  ],
  [
    'no type, and what a compiler makes of it',
    { type: undefined },
    "Object.defineProperty(exports, '__esModule', { value: true });\nexports.default = { name: 'quiz-v1' };",
    /✘ PLUG-4[\s\S]*received a file that was built as CommonJS\n +hint +Add "type": "module" to package\.json/,
  ],
  ['no version', { version: undefined }, undefined, /lacks a version, and npm packs nothing without one/],
])('of %s is named', async (_, changes, module, says) => {
  expect(await said(changes, module)).toMatch(says);
});

test('a build that is older than its source is named, with the command that builds', async () => {
  const folder = await quiz(beside, ['dist', 'src/rows.csv'], { scripts: { build: 'tsc' } });
  await writeFile(join(folder, 'src/quiz-v1.ts'), '');
  const check = async () => (await startCli(['check', '.', '--actions', '20'], folder).finished).stdout;
  expect(await check()).not.toContain('WARN-14');
  const minuteAgo = new Date(Date.now() - 60_000);
  await utimes(join(folder, 'dist/quiz-v1.js'), minuteAgo, minuteAgo);
  const stdout = await check();
  expect(stdout).toMatch(
    /! WARN-14 An old build\n.*\n +received src\/quiz-v1\.ts was changed later\n +hint +Build the package: npm run build\./,
  );
  // The environment is checked all the same.
  expect(stdout).toContain('✔ quiz/quiz-v1');
});
