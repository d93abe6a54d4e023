/** Packages that break one rule each, as path → content. All are changes of one valid package. */
import type { RuleId } from '../src/index.ts';

/** Path → text, JSON, the target of a symbolic link, or a text that was written so many seconds ago. */
export type Files = Readonly<
  Record<string, string | object | { link: string } | { text: string; age: number }>
>;

const env = `export default {
  name: 'lamp-v1', description: 'A lamp.', options: { type: 'object' }, rewards: {},
  limits: { maxTurns: 1, maxCallsPerTurn: 1, toolTimeout: 1, maxToolCharacters: 1 }, roles: {},
  async open() { throw new Error('not opened by a check of the package'); },
};`;

const json = {
  name: 'lamp',
  version: '1.0.0',
  type: 'module',
  keywords: ['toolenv-plugin'],
  exports: { './lamp-v1': './lamp.js', './switch-v1': './switch.js' },
  toolenv: { spec: 'v1', envs: { 'lamp-v1': './lamp-v1' }, tools: { 'switch-v1': './switch-v1' } },
};

export const goodPlugin: Files = {
  'package.json': json,
  'lamp.js': env,
  'switch.js': `export default {
    name: 'switch-v1', description: 'A switch.', example: { material: {} },
    async create() { throw new Error('not created by a check of the package'); },
  };`,
};

function manifest(toolenv: object | undefined): Files {
  return { ...goodPlugin, 'package.json': { ...json, toolenv } };
}

export const brokenPlugins: readonly [what: string, rule: RuleId, files: Files][] = [
  ['no manifest', 'PLUG-1', manifest(undefined)],
  ['another version of the spec', 'PLUG-1', manifest({ spec: 'v2' })],
  ['a name without a version', 'PLUG-1', manifest({ spec: 'v1', envs: { lamp: './lamp-v1' } })],
  ['a kind that does not exist', 'PLUG-1', manifest({ spec: 'v1', lamps: {} })],
  ['a path out of the package', 'PLUG-2', manifest({ spec: 'v1', envs: { 'lamp-v1': './../lamp.js' } })],
  ['an absolute path', 'PLUG-2', manifest({ spec: 'v1', envs: { 'lamp-v1': '/etc/lamp.js' } })],
  ['a link out of the package', 'PLUG-2', { ...goodPlugin, 'lamp.js': { link: '/etc/hostname' } }],
  [
    'an entry that is not exported',
    'PLUG-3',
    { ...goodPlugin, 'package.json': { ...json, exports: { './switch-v1': './switch.js' } } },
  ],
  [
    'an entry that was not built',
    'PLUG-3',
    {
      ...goodPlugin,
      'package.json': { ...json, exports: { ...json.exports, './lamp-v1': './dist/lamp.js' } },
    },
  ],
  ['no default export', 'PLUG-4', { ...goodPlugin, 'lamp.js': 'export const lamp = 1;' }],
  [
    'a function where the definition of a tool belongs',
    'PLUG-4',
    { ...goodPlugin, 'switch.js': 'export default async () => ({ name: "switch" });' },
  ],
  ['a module that does not load', 'PLUG-4', { ...goodPlugin, 'lamp.js': 'throw new TypeError("no");' }],
  [
    'an environment without open',
    'PLUG-4',
    { ...goodPlugin, 'lamp.js': env.replace('async open()', 'async close()') },
  ],
  ['no keyword', 'PLUG-5', { ...goodPlugin, 'package.json': { ...json, keywords: [] } }],
  [
    'a timer started by importing',
    'PLUG-6',
    { ...goodPlugin, 'lamp.js': `globalThis.lampTimer = setInterval(() => {}, 100_000);\n${env}` },
  ],
  [
    'a package that is no dependency',
    'PLUG-7',
    {
      ...goodPlugin,
      'lamp.js': `import 'bulb';\n${env}`,
      'node_modules/bulb/package.json': { name: 'bulb', version: '1.0.0', exports: './bulb.js' },
      'node_modules/bulb/bulb.js': '',
    },
  ],
  [
    'an environment of another name than its entry',
    'PLUG-4',
    { ...goodPlugin, 'lamp.js': env.replace('lamp-v1', 'lantern-v1') },
  ],
  [
    'types that were not built',
    'PLUG-3',
    {
      ...goodPlugin,
      'package.json': {
        ...json,
        exports: { ...json.exports, './lamp-v1': { types: './lamp.d.ts', default: './lamp.js' } },
      },
    },
  ],
  ['an ES module without a type', 'WARN-13', { ...goodPlugin, 'package.json': { ...json, type: undefined } }],
  [
    'a source that is newer than its build',
    'WARN-14',
    {
      ...goodPlugin,
      'package.json': { ...json, exports: { ...json.exports, './lamp-v1': './dist/lamp.js' } },
      'dist/lamp.js': { text: env, age: 60 },
      'src/lamp.ts': env,
    },
  ],
];
