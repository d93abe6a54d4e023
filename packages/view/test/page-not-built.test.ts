/** A checkout that has not built the page says so at once, with the command, and the scripts of the repository build it. */
import { cp, mkdtemp, readFile, rm, symlink } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect, onTestFinished, test } from 'vitest';

const view = join(import.meta.dirname, '..');
const root = join(view, '../..');
const build = 'build -w @toolenv/view';

const scriptsOf = async (folder: string): Promise<Record<string, string>> =>
  JSON.parse(await readFile(join(folder, 'package.json'), 'utf8')).scripts;

test('without its page, the viewer and a report are refused with the command that builds it', async () => {
  // The package as a fresh checkout has it.
  const folder = await mkdtemp(join(tmpdir(), 'toolenv-unbuilt-'));
  onTestFinished(() => rm(folder, { recursive: true }));
  await cp(join(view, 'src'), join(folder, 'src'), { recursive: true });
  await symlink(join(root, 'node_modules'), join(folder, 'node_modules'));
  await cp(join(view, 'package.json'), join(folder, 'package.json'));
  const { serveView } = await import(join(folder, 'src/index.ts'));
  const run = join(root, 'packages/training/test/diagnosis/recorded/faults');
  const refusal = { code: 'usage.page_not_built', message: expect.stringContaining(`npm run ${build}`) };
  await expect(serveView({ runs: [run] })).rejects.toMatchObject(refusal);
  const { readReportParts } = await import(join(folder, 'src/report/report-html.ts'));
  await expect(readReportParts()).rejects.toMatchObject(refusal);
});

test('npm run view builds the page first, and the demo ends with that command', async () => {
  expect((await scriptsOf(root)).view).toBe(`npm run -s ${build} && npm run -s toolenv -- view`);
  expect((await scriptsOf(view)).build).toContain('vite build');
  expect(await readFile(join(root, 'workshop/demo/demo.ts'), 'utf8')).toContain('npm run view -- ');
});
