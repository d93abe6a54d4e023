import { existsSync } from 'node:fs';
import { mkdir, mkdtemp, rm, symlink, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { openEnv, ToolEnvError } from '../../src/index.ts';
import {
  findPlugin,
  kindOfPlugin,
  listPlugins,
  loadPlugin,
  parseAddressed,
} from '../../src/plugins/index.ts';
import { parseReference } from '../../src/plugins/reference.ts';

let root: string;

/** Writes a package whose files create the file `ran` when they run. */
async function install(
  folder: string,
  json: Record<string, unknown>,
  files: Record<string, string> = {},
): Promise<void> {
  await mkdir(folder, { recursive: true });
  await writeFile(
    join(folder, 'package.json'),
    JSON.stringify({ version: '1.2.3', type: 'module', ...json }),
  );
  const mark = `import { writeFileSync } from 'node:fs';\nwriteFileSync(${JSON.stringify(join(folder, 'ran'))}, '');\n`;
  for (const [name, code] of Object.entries(files)) await writeFile(join(folder, name), mark + code);
}

const envCode = `export default {
  name: 'maze-v1', description: '', rewards: {}, limits: {},
  roles: { search: '@lab/tools/search-v1' },
  options: { properties: {
    size: { type: 'integer', default: 3 }, walls: { type: 'boolean', default: false },
    deep: { type: 'object', default: {}, properties: { k: { default: 5 } } },
  } },
  async open(given) {
    return { given, tasks: { train: { length: 1, get: () => given } }, episode() { return this.given; }, async close() {} };
  },
};`;

beforeAll(async () => {
  root = await mkdtemp(join(tmpdir(), 'toolenv-plugins-'));
  const modules = join(root, 'node_modules');
  const envs = {
    'maze-v1': './maze',
    'maze-v2': './maze',
    'hidden-v1': './hidden',
    'outside-v1': './outside',
    'empty-v1': './empty',
  };
  await install(
    join(modules, '@lab/envs'),
    {
      name: '@lab/envs',
      exports: {
        './maze': { '@toolenv/source': './source.js', types: './maze.d.ts', import: './maze.js' },
        './unbuilt': './dist/unbuilt.js',
        './outside': './../../other/secret.js',
        './empty': { nothing: './no.js', default: ['./empty.js'] },
      },
      toolenv: { spec: 'v1', envs: { ...envs, 'unbuilt-v1': './unbuilt' } },
    },
    { 'source.js': envCode, 'empty.js': 'export const nothing = 1;' },
  );
  await install(
    join(root, 'packages/tools'),
    {
      name: '@lab/tools',
      exports: { './search': './search.js' },
      toolenv: { spec: 'v1', tools: { 'search-v1': './search' } },
    },
    { 'search.js': 'export default { create: async (material) => ({ name: "search", material }) };' },
  );
  await symlink(join(root, 'packages/tools'), join(modules, '@lab/tools'));
  await install(join(modules, 'future'), {
    name: 'future',
    toolenv: { spec: 'v9', envs: { 'x-v1': './x' } },
  });
  await install(join(modules, 'upwards'), {
    name: 'upwards',
    toolenv: { spec: 'v1', envs: { 'x-v1': './../x' } },
  });
  await install(join(modules, 'plain'), { name: 'plain' });
  await mkdir(join(modules, 'no-package'));
  await install(
    join(root, 'project'),
    { name: 'own', exports: { './a': './a.js' }, toolenv: { spec: 'v1', trainers: { 'a-v1': './a' } } },
    { 'a.js': 'export default 1;' },
  );
});
afterAll(() => rm(root, { recursive: true }));

async function thrown(promise: Promise<unknown>): Promise<ToolEnvError> {
  const error = await promise.then(
    () => undefined,
    (error: unknown) => error,
  );
  if (!ToolEnvError.isInstance(error)) throw new Error(`expected a ToolEnvError, got ${error}`);
  expect(error.message).not.toContain('\n');
  return error;
}

describe('references', () => {
  test.each([
    ['@toolenv/envs-qa/bridge-v1', { package: '@toolenv/envs-qa', name: 'bridge-v1', version: 1 }],
    ['mazes/two-rooms-v12', { package: 'mazes', name: 'two-rooms-v12', version: 12 }],
  ])('%s', (ref, expected) => expect(parseReference(ref)).toEqual(expected));

  test.each([
    'bridge-v1',
    'mazes/maze',
    'mazes/maze-v0',
    '@a/maze-v1/',
    '../maze-v1',
    '@x/../a-v1',
    'a/b/c-v1',
    '',
  ])('"%s" is refused', (ref) => expect(() => parseReference(ref)).toThrow('write <package>/<name>-v<N>'));
});

test('lists plugins of enclosing node_modules, of symlinks and of the package itself, without running them', () => {
  const lab = { kind: 'envs', package: '@lab/envs', version: '1.2.3' };
  expect(listPlugins(join(root, 'project'))).toEqual([
    ...['empty', 'hidden', 'maze'].map((name) => ({ ...lab, ref: `@lab/envs/${name}-v1` })),
    { ...lab, ref: '@lab/envs/maze-v2' },
    { ...lab, ref: '@lab/envs/outside-v1' },
    { ...lab, ref: '@lab/envs/unbuilt-v1' },
    { kind: 'tools', package: '@lab/tools', version: '1.2.3', ref: '@lab/tools/search-v1' },
    { kind: 'trainers', package: 'own', version: '1.2.3', ref: 'own/a-v1' },
  ]);
  expect(existsSync(join(root, 'node_modules/@lab/envs/ran'))).toBe(false);
  expect(existsSync(join(root, 'packages/tools/ran'))).toBe(false);
});

test.each([
  ['@lab/envs/maze-v1', 'envs'],
  ['@lab/tools/search-v1', 'tools'],
  ['own/a-v1', 'trainers'],
  ['@lab/envs/mase-v1', undefined],
  ['@lab/none/maze-v1', undefined],
  ['toString', undefined],
  ['@lab/envs/toString', undefined],
])('the kind of %s is %s, from its package alone', (ref, kind) => {
  expect(kindOfPlugin(ref, [join(root, 'project')])).toBe(kind);
});

test('imports an entry once, under the export conditions of this process', async () => {
  const from = join(root, 'project');
  const loaded = await findPlugin('envs', '@lab/envs/maze-v1', { from });
  expect(loaded).toMatchObject({ ref: '@lab/envs/maze-v1', version: '1.2.3', plugin: { name: 'maze-v1' } });
  expect(await loadPlugin('envs', '@lab/envs/maze-v1', { from })).toBe(loaded.plugin);
  const search = await loadPlugin('tools', '@lab/tools/search-v1', { from });
  expect(search.create).toBeTypeOf('function');
  expect(await loadPlugin('trainers', 'own/a-v1', { from })).toBe(1);
});

test.each([
  [
    '@lab/envs/mase-v1',
    'usage.unknown_plugin',
    'Unknown environment "@lab/envs/mase-v1". Did you mean "@lab/envs/maze-v1"?',
  ],
  [
    '@lab/envs/completely-other-v1',
    'usage.unknown_plugin',
    'Installed: @lab/envs/empty-v1, @lab/envs/hidden-v1',
  ],
  [
    '@lab/env/maze-v1',
    'usage.unknown_plugin',
    'Did you mean "@lab/envs/maze-v1"? Package @lab/env is not installed: npm install @lab/env',
  ],
  [
    '@lab/other-environments/maze-v1',
    'usage.unknown_plugin',
    'Unknown environment "@lab/other-environments/maze-v1". Did you mean "@lab/envs/maze-v1"?',
  ],
  ['nowhere/chess-v1', 'usage.unknown_plugin', 'Package nowhere is not installed: npm install nowhere'],
  ['plain/maze-v1', 'usage.unknown_plugin', 'Unknown environment "plain/maze-v1".'],
  ['@lab/tools/search-v1', 'usage.unknown_plugin', 'Unknown environment "@lab/tools/search-v1".'],
  ['@lab/envs/toString-v1', 'usage.bad_reference', 'is not a reference'],
  ['future/x-v1', 'usage.spec_version', 'future@1.2.3 speaks toolenv spec v9, and this toolenv speaks v1'],
  ['upwards/x-v1', 'usage.bad_manifest', 'toolenv/envs/x-v1: expected must match pattern'],
  ['@lab/envs/hidden-v1', 'usage.bad_manifest', 'the manifest\'s "./hidden" is not in "exports"'],
  ['@lab/envs/unbuilt-v1', 'usage.bad_manifest', 'dist/unbuilt.js, which does not exist: build the package.'],
  ['@lab/envs/outside-v1', 'usage.bad_manifest', 'the manifest\'s "./outside" is not in "exports"'],
  ['@lab/envs/empty-v1', 'usage.bad_manifest', './empty has no default export: it must be the environment.'],
])('%s is refused in one line', async (ref, code, message) => {
  const error = await thrown(loadPlugin('envs', ref, { from: root }));
  expect(error.code).toBe(code);
  expect(error.message).toContain(message);
});

test('an import that Node does not follow is refused in one line, with what to write', async () => {
  const json = {
    name: 'bare',
    exports: { './a': './a.js' },
    toolenv: { spec: 'v1', envs: { 'a-v1': './a' } },
  };
  const files = { 'a.js': "import './parts/b';\nexport default 1;" };
  const folder = join(root, 'node_modules/bare');
  await mkdir(join(folder, 'parts'), { recursive: true });
  await writeFile(join(folder, 'parts/b.js'), '');
  await install(folder, json, files);
  const error = await thrown(loadPlugin('envs', 'bare/a-v1', { from: root }));
  expect(error.code).toBe('usage.bad_manifest');
  expect(error.message).toMatch(
    /^bare@1\.2\.3: "\.\/a" cannot be imported \(.*parts\/b'? .*\)\. In a\.js and its source, /,
  );
  expect(error.message).toContain('write the whole name of the file: "./parts/b.js" for "./parts/b".');
});

test('a package.json that Node cannot read, although it is JSON, is refused in one line or loaded', async () => {
  const plugin = { spec: 'v1', trainers: { 'a-v1': './a' } };
  const json = { name: '@half/character\ud800', exports: { './a': './a.js' }, toolenv: plugin };
  await install(join(root, 'node_modules/@half/character'), json, { 'a.js': 'export default 1;' });
  const loaded = loadPlugin('trainers', '@half/character/a-v1', { from: root });
  // Node 20 loads it.
  if (process.versions.node.startsWith('20.')) expect(await loaded).toBe(1);
  else
    expect(await thrown(loaded)).toMatchObject({
      code: 'usage.bad_manifest',
      message: expect.stringContaining('repair that file'),
    });
});

test('a package whose package.json cannot be read is damaged, not missing', async () => {
  const folder = join(root, 'node_modules/damaged');
  await mkdir(folder, { recursive: true });
  await writeFile(join(folder, 'package.json'), '{"name": "damaged", "versi');
  const error = await thrown(loadPlugin('envs', 'damaged/x-v1', { from: root }));
  expect(error.code).toBe('usage.unknown_plugin');
  expect(error.message).toContain(`${join(folder, 'package.json')} is damaged: npm install damaged`);
});

test.each([
  [
    'spec',
    { name: 'endless', version: '1.2.3', toolenv: { spec: 'v'.repeat(100_000) } },
    'usage.bad_manifest',
  ],
  [
    'version',
    { name: 'endless', version: '1'.repeat(100_000), toolenv: { spec: 'v9' } },
    'usage.unknown_plugin',
  ],
])('an endless %s is not repeated in the message', async (_, json, code) => {
  const folder = join(root, 'node_modules/endless');
  await mkdir(folder, { recursive: true });
  await writeFile(join(folder, 'package.json'), JSON.stringify(json));
  const error = await thrown(loadPlugin('envs', 'endless/x-v1', { from: root }));
  expect(error.code).toBe(code);
  expect(error.message.length).toBeLessThan(1000);
});

describe('openEnv', () => {
  const open = (options: object = {}, settings: object = {}) =>
    openEnv('@lab/envs/maze-v1', { ...options }, { seed: 4, from: root, ...settings });

  test('fills in default options and tools, and records the reference and the version', async () => {
    const env = await open({ size: 9 }, { guarded: false });
    expect(env).toMatchObject({ ref: '@lab/envs/maze-v1', packageVersion: '1.2.3' });
    const given = env.tasks.train.get(0) as { tools: { search(material: string): Promise<unknown> } };
    expect(given).toMatchObject({ options: { size: 9, walls: false, deep: { k: 5 } }, seed: 4 });
    expect(env.episode()).toBe(given);
    expect(await given.tools.search('pages')).toEqual({ name: 'search', material: 'pages' });
    await env.close();
  });

  test('uses a given tool in place of the default', async () => {
    const search = async () => ({ name: 'mine' }) as never;
    const env = await open({}, { tools: { search } });
    expect(env.tasks.train.get(0)).toMatchObject({ tools: { search } });
    const withPlugin = await open({}, { tools: { search: { create: search } } });
    const { tools } = withPlugin.tasks.train.get(0) as { tools: { search: typeof search } };
    expect(await tools.search()).toEqual({ name: 'mine' });
  });

  test('opens a definition that is not installed', async () => {
    const definition = await loadPlugin('envs', '@lab/envs/maze-v1', { from: root });
    const env = await openEnv(definition, {}, { from: root });
    expect(env.ref).toBeUndefined();
    expect(env.tasks.train.get(0)).toMatchObject({ options: { size: 3 } });
  });

  test.each([
    [{ sise: 3 }, {}, 'usage.unknown_option', '@lab/envs/maze-v1 has no option "sise". Did you mean "size"?'],
    [{ colour: 3 }, {}, 'usage.unknown_option', 'Options: size, walls, deep.'],
    [{ size: 'big' }, {}, 'usage.bad_option', 'option "size": expected must be integer; received "big".'],
    [{}, { tools: { serch: 'x/y-v1' } }, 'usage.unknown_role', 'has no role "serch". Did you mean "search"?'],
    [
      {},
      { tools: { search: '@lab/tools/serch-v1' } },
      'usage.unknown_plugin',
      'Did you mean "@lab/tools/search-v1"?',
    ],
  ])('%o %o is refused in one line', async (options, settings, code, message) => {
    const error = await thrown(open(options, settings));
    expect(error.code).toBe(code);
    expect(error.message).toContain(message);
  });
});

describe('a package whose name is not that of its folder', () => {
  const claims = (name: string) => ({
    name,
    version: '9.9.9',
    exports: { './maze': './maze.js' },
    toolenv: { spec: 'v1', envs: { 'maze-v1': './maze' } },
  });
  let project: string;
  beforeAll(async () => {
    project = await mkdtemp(join(tmpdir(), 'toolenv-names-'));
    const modules = join(project, 'node_modules');
    await install(join(modules, 'good'), { ...claims('good'), version: '1.0.0' }, { 'maze.js': envCode });
    // Sorts before the package that it claims to be.
    await install(join(modules, 'evil'), claims('good'), { 'maze.js': envCode });
    await install(join(modules, '@evil/envs'), claims('@lab/missing'), { 'maze.js': envCode });
    await install(join(modules, 'EVIL name'), claims('good'), { 'maze.js': envCode });
    await install(join(modules, 'good/sub'), claims('../../good'), { 'maze.js': envCode });
  });
  afterAll(() => rm(project, { recursive: true }));

  test('is listed under its folder, with the name that it declares', () => {
    expect(listPlugins(project)).toEqual([
      {
        ref: '@evil/envs/maze-v1',
        kind: 'envs',
        package: '@evil/envs',
        version: '9.9.9',
        declaredName: '@lab/missing',
      },
      { ref: 'evil/maze-v1', kind: 'envs', package: 'evil', version: '9.9.9', declaredName: 'good' },
      { ref: 'good/maze-v1', kind: 'envs', package: 'good', version: '1.0.0' },
    ]);
    expect(listPlugins(join(project, 'node_modules/evil')).map(({ ref }) => ref)).toContain('evil/maze-v1');
    expect(listPlugins(join(project, 'node_modules/good/sub'))).toHaveLength(3);
  });

  test('is loaded under its folder only', async () => {
    expect(await findPlugin('envs', 'evil/maze-v1', { from: project })).toMatchObject({
      package: 'evil',
      declaredName: 'good',
    });
    const inside = join(project, 'node_modules/evil');
    expect(await findPlugin('envs', 'good/maze-v1', { from: inside })).toMatchObject({ version: '1.0.0' });
    await expect(findPlugin('envs', '@lab/missing/maze-v1', { from: project })).rejects.toMatchObject({
      code: 'usage.unknown_plugin',
    });
  });
});

test('a reference by address is a plugin with that address', () => {
  expect(parseAddressed('openenv:http://127.0.0.1:8000')).toEqual({
    ref: '@toolenv/openenv/openenv-v1',
    address: 'http://127.0.0.1:8000',
  });
  for (const other of ['openenv:', 'http://127.0.0.1:8000', '@toolenv/envs-qa/bridge-v1', 'C:\\envs\\a.ts']) {
    expect(parseAddressed(other)).toBeUndefined();
  }
});

test('a plugin at an address has it as the default of its option, which stays its own otherwise', async () => {
  const ref = '@toolenv/openenv/openenv-v1';
  const at = await findPlugin('envs', 'openenv:http://127.0.0.1:8000');
  expect(at.ref).toBe(ref);
  expect(at.plugin.options).toMatchObject({
    required: ['address'],
    properties: { address: { type: 'string', default: 'http://127.0.0.1:8000' } },
  });
  const plain = await loadPlugin('envs', ref);
  expect(plain.options.properties).not.toHaveProperty('address.default');
});
