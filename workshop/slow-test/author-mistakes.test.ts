/**
 * Mistakes of authors, written by somebody who had read the guides and not the code. The first commands of the guides, `tsc` and `toolenv check`, must
 * name each, without a stack. Types are stripped here, so that `check` says it alone. What it cannot know: that a build is older than its source, and that a CSV
 * has texts where a type says number (it shows the task).
 */
import { mkdir, mkdtemp, symlink, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { beforeAll, expect, test } from 'vitest';
import { runCliIn } from '../../packages/cli/test/run-cli.ts';
import { startCli } from '../../packages/cli/test/start-cli.ts';
import * as environments from './author-mistakes/environments.ts';
import { type Mistake, moduleOf } from './author-mistakes/mistake.ts';
import { type PackageMistake, packageMistakes, rightPackage } from './author-mistakes/packages.ts';
import * as tools from './author-mistakes/tools.ts';
import * as trainers from './author-mistakes/trainers.ts';

const modules = join(import.meta.dirname, '../../node_modules');
const stack = /\n\s+at \S.*:\d+:\d+\)?$/m;
let home: string;

beforeAll(async () => {
  home = await mkdtemp(join(tmpdir(), 'authors-'));
  await symlink(modules, join(home, 'node_modules'));
  await writeFile(join(home, 'package.json'), '{"name":"authored","version":"1.0.0","type":"module"}');
});

async function put(folder: string, files: Readonly<Record<string, string | null>>): Promise<void> {
  for (const [path, text] of Object.entries(files)) {
    if (text === null) continue;
    await mkdir(dirname(join(folder, path)), { recursive: true });
    await writeFile(join(folder, path), text);
  }
}

/** What `toolenv check` says of a module. */
async function checked(
  name: string,
  files: Readonly<Record<string, string>>,
  isProcess = false,
): Promise<string> {
  const folder = join(home, name.replaceAll(/\W+/g, '-'));
  await put(folder, files);
  const args = ['check', './env-v1.ts', '--actions', '20'];
  const run = isProcess ? startCli(args, folder).finished : runCliIn(folder, ...args);
  const { stdout, stderr } = await run;
  return `${stdout}${stderr}`;
}

const all = [...environments.environmentMistakes, ...tools.toolMistakes, ...trainers.trainerMistakes];
const rights = Object.entries({ ...environments.right, ...tools.right, ...trainers.right });

test.each(rights)('%s is right, before anybody makes a mistake', async (name, module) => {
  expect(await checked(`right ${name}`, { 'env-v1.ts': module, ...tools.rows })).toContain('✔');
});

test.each(all.map((mistake): [string, Mistake] => [mistake.did, mistake]))(
  '%s is named',
  async (did, mistake) => {
    const said = await checked(did, { 'env-v1.ts': moduleOf(mistake), ...mistake.files }, mistake.isProcess);
    expect(said).toMatch(mistake.says);
    expect(said).not.toMatch(stack);
  },
);

test.each(packageMistakes.map((mistake): [string, PackageMistake] => [mistake.did, mistake]))(
  'of a package, %s is named',
  async (did, { manifest = (right) => right, files, says }) => {
    const folder = join(home, `package-${did.replaceAll(/\W+/g, '-')}`);
    const written = manifest(rightPackage.manifest());
    const json = typeof written === 'string' ? written : JSON.stringify(written);
    await put(folder, {
      'package.json': written === undefined ? null : json,
      ...rightPackage.files,
      ...files,
    });
    await mkdir(join(folder, 'node_modules'));
    await symlink(join(modules, '@toolenv'), join(folder, 'node_modules/@toolenv'));
    const { stdout, stderr } = await startCli(['check', '.', '--actions', '20'], folder).finished;
    expect(`${stdout}${stderr}`).toMatch(says);
    expect(`${stdout}${stderr}`).not.toMatch(stack);
  },
);
