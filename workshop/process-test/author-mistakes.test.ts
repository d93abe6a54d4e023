/**
 * Mistakes of authors, collected by somebody who had read the guides and not the code. `toolenv check` must name each without a stack. The guides run `tsc` first,
 * which finds some of them too; here types are stripped, so that `check` alone must find all. It cannot know that a CSV has texts where a type says number; it
 * shows the task.
 */
import { mkdir, symlink, utimes, writeFile } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import { beforeAll, expect, test } from 'vitest';
import { runCliIn } from '../../packages/cli/test/run-cli.ts';
import { startCli } from '../../packages/cli/test/start-cli.ts';
import { newFolder } from '../test/new-folder.ts';
import * as agents from './author-mistakes/agents.ts';
import * as definitions from './author-mistakes/definitions.ts';
import * as episodes from './author-mistakes/episodes.ts';
import * as mcpServers from './author-mistakes/mcp-servers.ts';
import { type Mistake, moduleOf } from './author-mistakes/mistake.ts';
import * as oraclesAndPlayers from './author-mistakes/oracles-and-players.ts';
import * as packages from './author-mistakes/packages.ts';
import * as rewards from './author-mistakes/rewards.ts';
import * as environments from './author-mistakes/right-environments.ts';
import * as taskFiles from './author-mistakes/task-files.ts';
import * as tasks from './author-mistakes/tasks.ts';
import * as tools from './author-mistakes/tools.ts';
import * as trainers from './author-mistakes/trainers.ts';

const modules = join(import.meta.dirname, '../../node_modules');
const stack = /\n\s+at \S.*:\d+:\d+\)?$/m;
const home = await newFolder();

beforeAll(async () => {
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

async function saidOf(subject: string, folder: string, isProcess: boolean): Promise<string> {
  const args = ['check', subject, '--actions', '20'];
  const run = isProcess ? startCli(args, folder).finished : runCliIn(folder, ...args);
  const { stdout, stderr } = await run;
  return `${stdout}${stderr}`;
}

/** What `toolenv check` says of a module. */
async function checked(
  name: string,
  files: Readonly<Record<string, string>>,
  isProcess = false,
): Promise<string> {
  const folder = join(home, name.replaceAll(/\W+/g, '-'));
  await put(folder, files);
  return saidOf('./env-v1.ts', folder, isProcess);
}

const ofEnvironments = [definitions, tasks, episodes, rewards, oraclesAndPlayers];
const ofOwnModules = [tools, taskFiles, mcpServers, agents, trainers];
const all = [...ofEnvironments, ...ofOwnModules].flatMap(({ mistakes }) => mistakes);
const rights = [environments, ...ofOwnModules.map(({ right }) => right)].flatMap((each) =>
  Object.entries(each),
);

test.each(rights)('%s is right, before anybody makes a mistake', async (name, module) => {
  expect(await checked(`right ${name}`, { 'env-v1.ts': module, ...taskFiles.rows })).toContain('✔');
});

test.each(all.map((mistake): [string, Mistake] => [mistake.did, mistake]))(
  '%s is named',
  async (did, mistake) => {
    const said = await checked(did, { 'env-v1.ts': moduleOf(mistake), ...mistake.files }, mistake.isProcess);
    expect(said).toMatch(mistake.says);
    expect(said).not.toMatch(stack);
  },
);

/** What `toolenv check` says of a package. */
async function checkedPackage(
  did: string,
  { fields, files, old = [], isProcess = false }: Partial<packages.PackageMistake> = {},
): Promise<string> {
  const folder = join(home, `package-${did.replaceAll(/\W+/g, '-')}`);
  const json = JSON.stringify({ ...packages.manifest, ...fields });
  await put(folder, { 'package.json': json, ...packages.files, ...files });
  const hourAgo = new Date(Date.now() - 3_600_000);
  for (const path of old) await utimes(join(folder, path), hourAgo, hourAgo);
  await mkdir(join(folder, 'node_modules'));
  await symlink(join(modules, '@toolenv'), join(folder, 'node_modules/@toolenv'));
  return saidOf('.', folder, isProcess);
}

test('the package is right, before anybody makes a mistake', async () => {
  const said = await checkedPackage('nothing', { isProcess: true });
  expect(said).toContain('✔');
  expect(said).not.toContain('✘');
});

test.each(Object.entries(packages.mistakes))('of a package, %s is named', async (did, mistake) => {
  const said = await checkedPackage(did, mistake);
  expect(said).toMatch(mistake.says);
  expect(said).not.toMatch(stack);
});
