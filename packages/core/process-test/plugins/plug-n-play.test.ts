/** Yarn's Plug'n'Play, which has no node_modules: a real Yarn installs a project, and plugins are found in its archives. */
import { execFileSync } from 'node:child_process';
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { pathToFileURL } from 'node:url';
import { afterAll, beforeAll, expect, test } from 'vitest';

const yarn = join(import.meta.dirname, '../../../../node_modules/@yarnpkg/cli-dist/bin/yarn.js');
const plugins = pathToFileURL(join(import.meta.dirname, '../../dist/plugins/index.js')).href;
const project = mkdtempSync(join(tmpdir(), 'toolenv-yarn-'));
const run = (...args: string[]) =>
  execFileSync(process.execPath, [yarn, ...args], {
    cwd: project,
    encoding: 'utf8',
    env: {
      ...process.env,
      YARN_GLOBAL_FOLDER: join(project, 'global'),
      YARN_ENABLE_TELEMETRY: 'false',
      // Where CI is set, Yarn would refuse to write the lock file.
      YARN_ENABLE_IMMUTABLE_INSTALLS: 'false',
    },
  });

function write(name: string, content: string | object): void {
  mkdirSync(dirname(join(project, name)), { recursive: true });
  writeFileSync(join(project, name), typeof content === 'string' ? content : JSON.stringify(content));
}

/** The JSON that a program prints whose imports are those of the project. */
function evaluate(program: string): unknown {
  write('program.mjs', `import * as plugins from ${JSON.stringify(plugins)};\n${program}`);
  return JSON.parse(run('node', 'program.mjs'));
}

beforeAll(() => {
  const dependencies = { maze: 'file:./maze', friend: 'file:./friend', plain: 'file:./friend' };
  write('package.json', { name: 'project', version: '1.0.0', type: 'module', dependencies });
  write('yarn.lock', '');
  write('friend/package.json', { name: 'friend', version: '2.0.0', type: 'module', exports: './index.js' });
  write('friend/index.js', "export const name = 'friend';");
  write('maze/package.json', {
    name: 'maze',
    version: '1.2.3',
    type: 'module',
    exports: { './maze': './maze.js', './absent': './absent.js' },
    toolenv: { spec: 'v1', envs: { 'maze-v1': './maze', 'absent-v1': './absent' } },
    peerDependencies: { friend: '*' },
  });
  // A peer is found only if the package is imported by the path that Yarn made for this dependent.
  write(
    'maze/maze.js',
    "import { name } from 'friend';\nexport default { name: 'maze-v1', description: name };",
  );
  run('install');
});
afterAll(() => rmSync(project, { recursive: true }));

test('plugins are listed and loaded, with their peers', () => {
  const found = { package: 'maze', version: '1.2.3', kind: 'envs' };
  expect(evaluate('console.log(JSON.stringify(plugins.listPlugins()));')).toEqual([
    { ...found, ref: 'maze/absent-v1' },
    { ...found, ref: 'maze/maze-v1' },
  ]);
  const loaded = evaluate("console.log(JSON.stringify(await plugins.findPlugin('envs', 'maze/maze-v1')));");
  expect(loaded).toMatchObject({ ...found, plugin: { name: 'maze-v1', description: 'friend' } });
});

test('packages are found under the names that the project gave them', () => {
  const program = `const { findPackage } = plugins;
    const found = ['plain', 'project', 'absent'].map((name) => findPackage(name, process.cwd()));
    console.log(JSON.stringify([...found.map((each) => each?.json.version ?? null), found[0].name]));`;
  expect(evaluate(program)).toEqual(['2.0.0', '1.0.0', null, 'plain']);
});

test('a plugin whose file is absent names the remedy', () => {
  const program =
    "console.log(JSON.stringify(await plugins.findPlugin('envs', 'maze/absent-v1').catch(String)));";
  expect(evaluate(program)).toMatch(/maze@1\.2\.3: .*absent\.js, which does not exist: build the package/);
});
