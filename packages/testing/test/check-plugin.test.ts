/** checkPlugin reports each defect under its rule, and reports nothing for a valid package. */
import { mkdir, mkdtemp, rm, symlink, utimes, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { findPlugin } from '@toolenv/core/plugins';
import { afterEach, expect, test } from 'vitest';
import { checkPlugin, reportText } from '../src/index.ts';
import { brokenPlugins, type Files, goodPlugin } from './broken-plugins.ts';
import { expectFinding } from './expect-finding.ts';

const made: string[] = [];

afterEach(async () => {
  clearInterval((globalThis as { lampTimer?: NodeJS.Timeout }).lampTimer);
  for (const folder of made.splice(0)) await rm(folder, { recursive: true });
});

async function write(files: Files): Promise<string> {
  const root = await mkdtemp(join(tmpdir(), 'toolenv-plugin-'));
  made.push(root);
  const folder = join(root, 'node_modules', 'lamp');
  await mkdir(folder, { recursive: true });
  for (const [name, content] of Object.entries(files)) {
    const path = join(folder, name);
    await mkdir(dirname(path), { recursive: true });
    if (typeof content === 'object' && 'link' in content) await symlink(content.link, path);
    else if (typeof content === 'object' && 'age' in content) {
      await writeFile(path, content.text);
      await utimes(path, new Date(), new Date(Date.now() - 1000 * content.age));
    } else await writeFile(path, typeof content === 'string' ? content : JSON.stringify(content));
  }
  return folder;
}

test('a valid package passes every rule', async () => {
  const report = await checkPlugin(await write(goodPlugin));
  expect(reportText(report)).toBe('lamp@1.0.0: 7 rules hold, 0 broken, 0 not checked.');
});

test.each(brokenPlugins)('%s: %s', async (_, rule, files) => {
  expectFinding(await checkPlugin(await write(files)), rule);
});

const lampIn = (path: string): object => ({
  ...(goodPlugin['package.json'] as object),
  exports: { './lamp-v1': path, './switch-v1': './switch.js' },
});
const lamp = String(goodPlugin['lamp.js']);

test.each<[what: string, files: Files, hint: RegExp]>([
  [
    'the name of a file without its ending',
    { 'lamp.js': `import './bulb';\n${lamp}`, 'bulb.js': '' },
    /^In lamp\.js and its source, write the whole name of the file: "\.\/bulb\.js" for "\.\/bulb"\.$/,
  ],
  [
    'a folder',
    { 'lamp.js': `export * from './bulbs';\n${lamp}`, 'bulbs/index.js': '' },
    /"\.\/bulbs\/index\.js" for "\.\/bulbs"/,
  ],
  [
    'the name of the source',
    { 'lamp.js': `import './bulb.ts';\n${lamp}`, 'bulb.js': '' },
    /"\.\/bulb\.js" for "\.\/bulb\.ts"/,
  ],
  [
    'JSON without its type',
    { 'lamp.js': `import './rows.json';\n${lamp}`, 'rows.json': '[]' },
    /with \{ type: 'json' \}\.$/,
  ],
  [
    'no file',
    { 'lamp.js': `import '../bulb.js';\n${lamp}` },
    /^lamp\.js imports "\.\.\/bulb\.js", and there is no such file: correct the path, or build the package\. If the file is there, npm does not publish it/,
  ],
  ['no package', { 'lamp.js': `import 'bulb/led';\n${lamp}` }, /^Install it: npm install bulb$/],
  [
    'a path of tsconfig.json',
    { 'lamp.js': `import '@/bulb.js';\n${lamp}` },
    /import the file by a relative path/,
  ],
])('an import of %s has a remedy', async (_, files, hint) => {
  const report = await checkPlugin(await write({ ...goodPlugin, ...files }), { skip: ['PLUG-7', 'WARN-13'] });
  expect(expectFinding(report, 'PLUG-4').hint).toMatch(hint);
});

test('CommonJS that is an ES module to Node has a remedy', async () => {
  const folder = await write({ ...goodPlugin, 'lamp.js': 'exports.default = 1;' });
  const { hint } = expectFinding(await checkPlugin(folder, { skip: ['PLUG-7'] }), 'PLUG-4');
  expect(hint).toContain('It is CommonJS: build ES modules, with "module": "nodenext" in tsconfig.json');
});

test('a type in a package.json nearer to the file is a type', async () => {
  const untyped = { ...lampIn('./dist/lamp.js'), type: undefined };
  const files = {
    'package.json': untyped,
    'dist/lamp.js': lamp,
    'switch.mjs': String(goodPlugin['switch.js']),
  };
  const exports = { './lamp-v1': './dist/lamp.js', './switch-v1': './switch.mjs' };
  const plugin = { ...goodPlugin, ...files, 'package.json': { ...untyped, exports } };
  expectFinding(await checkPlugin(await write(plugin)), 'WARN-13');
  const typed = await checkPlugin(await write({ ...plugin, 'dist/package.json': { type: 'module' } }));
  expect(typed.warnings).toEqual([]);
});

const old = { text: lamp, age: 60 };

test.each<[what: string, files: Files, received: string | undefined]>([
  [
    'a source that was changed later',
    { 'dist/lamp.js': old, 'src/lamp.ts': lamp },
    'src/lamp.ts was changed later',
  ],
  ['a source beside src', { 'dist/lamp.js': old, 'lamp.mts': lamp }, 'lamp.mts was changed later'],
  [
    'a source that a built file imports',
    {
      'dist/lamp.js': { text: `import './deep/bulb.js';\n${lamp}`, age: 60 },
      'dist/deep/bulb.js': { text: '', age: 60 },
      'src/lamp.ts': { text: lamp, age: 90 },
      'src/deep/bulb.ts': '',
    },
    'src/deep/bulb.ts was changed later',
  ],
  [
    'a source that a source map names',
    {
      'dist/lamp.js': old,
      'dist/lamp.js.map': { version: 3, sources: ['../code/light.ts', '../node_modules/bulb/bulb.ts'] },
      'code/light.ts': '',
    },
    'code/light.ts was changed later',
  ],
  ['a build that is newer', { 'dist/lamp.js': lamp, 'src/lamp.ts': old }, undefined],
  ['files of one checkout', { 'dist/lamp.js': { text: lamp, age: 1 }, 'src/lamp.ts': lamp }, undefined],
  ['a test that is newer', { 'dist/lamp.js': old, 'src/lamp.ts': old, 'src/lamp.test.ts': '' }, undefined],
  [
    'a file in which the compiler found no change',
    { 'dist/lamp.js': old, 'src/lamp.ts': { text: lamp, age: 30 }, 'tsconfig.tsbuildinfo': '{}' },
    undefined,
  ],
  ['no source', { 'dist/lamp.js': old }, undefined],
])('an old build is reported by time: %s', async (_, files, received) => {
  const json = lampIn('./dist/lamp.js');
  const folder = await write({ ...goodPlugin, 'package.json': json, ...files });
  const report = await checkPlugin(folder);
  if (received === undefined) expect(report.warnings).toEqual([]);
  else expect(expectFinding(report, 'WARN-14').received).toBe(received);
});

test('an old build names the command that builds', async () => {
  const hintOf = async (changes: object, more: Files = {}) => {
    const json = { ...lampIn('./dist/lamp.js'), ...changes };
    const files = { ...goodPlugin, 'package.json': json, 'dist/lamp.js': old, 'src/lamp.ts': lamp, ...more };
    return expectFinding(await checkPlugin(await write(files)), 'WARN-14').hint;
  };
  expect(await hintOf({ scripts: { build: 'tsc' } })).toMatch(/^Build the package: npm run build\. /);
  expect(await hintOf({ scripts: { prepack: 'tsc' } })).toMatch(/^Build the package: npm run prepack\. /);
  expect(await hintOf({}, { 'tsconfig.json': '{}' })).toMatch(/^Build the package: npx tsc\. /);
});

test('a warning of a package that is left out is named in its report', async () => {
  const untyped = { ...(goodPlugin['package.json'] as object), type: undefined };
  const folder = await write({ ...goodPlugin, 'package.json': untyped });
  const { warnings, skipped } = await checkPlugin(folder, { skip: ['WARN-13', 'WARN-9'] });
  expect({ warnings, skipped }).toEqual({
    warnings: [],
    skipped: [{ rule: 'WARN-13', reason: 'it was left out by request' }],
  });
});

test.each([
  [{ name: 'lamp' }, 'lacks a version, and npm packs nothing without one: add "version": "0.1.0".'],
  [{ version: '1.0.0' }, 'lacks a name: add one, such as "name": "my-env".'],
  [{}, 'lacks a name and a version: add both.'],
  [{ name: 'lamp', version: 1 }, 'lacks a version'],
])('package.json with no more than %j is a usage error', async (json, message) => {
  const checked = checkPlugin(await write({ 'package.json': json }));
  await expect(checked).rejects.toMatchObject({ code: 'usage.not_a_package' });
  await expect(checked).rejects.toThrow(message);
});

test('a folder that is not a package is a usage error', async () => {
  await expect(checkPlugin(tmpdir())).rejects.toMatchObject({ code: 'usage.not_a_package' });
});

test('does not load a plugin through a link out of its package', async () => {
  const folder = await write({ ...goodPlugin, 'lamp.js': { link: '/etc/hostname' } });
  const found = findPlugin('envs', 'lamp/lamp-v1', { from: join(folder, '..', '..') });
  await expect(found).rejects.toMatchObject({ code: 'usage.bad_manifest' });
});
