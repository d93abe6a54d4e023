/** Programs of `create-toolenv`: its own, and the builds of its templates. */
import { execFile } from 'node:child_process';
import { mkdir, mkdtemp, readdir, rm, symlink, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { expect, onTestFinished, test } from 'vitest';
import { captured } from '../../cli/test/captured.ts';
import { run } from '../src/run.ts';

const root = join(import.meta.dirname, '../../..');

test.each(['env', 'agent'])(
  'the build of the template %s puts files of data beside their module',
  async (template) => {
    const folder = await mkdtemp(join(tmpdir(), 'create-toolenv-'));
    onTestFinished(() => rm(folder, { recursive: true }));
    await captured(folder, () => run(['mine', '--template', template]));
    const mine = join(folder, 'mine');
    await symlink(join(root, 'node_modules'), join(mine, 'node_modules'));
    await mkdir(join(mine, 'src/data'));
    await writeFile(join(mine, 'src/data/rows.csv'), 'question,answer\n');
    await promisify(execFile)('npm', ['run', '--silent', 'build'], { cwd: mine });
    const built = await readdir(join(mine, 'dist'), { recursive: true });
    expect(built).toContain(join('data', 'rows.csv'));
    expect(built).toContain(template === 'env' ? 'safe-v1.js' : 'safe-agent-v1.js');
    expect(built.filter((file) => /(?<!\.d)\.ts$/.test(file))).toEqual([]);
  },
);

test('is a program with these exit codes', async () => {
  const main = join(import.meta.dirname, '../dist/main.js');
  const codes = [['--version'], ['--tempalte']].map(
    (args) =>
      new Promise((resolve) =>
        execFile(process.execPath, [main, ...args], (error) => resolve(error?.code ?? 0)),
      ),
  );
  expect(await Promise.all(codes)).toEqual([0, 2]);
});
