/** Mistakes in a package: its manifest, its build, and what npm would publish of it. */
export interface PackageMistake {
  /** What stands in package.json instead; `undefined` is a field that is not there. */
  readonly fields?: Readonly<Record<string, unknown>>;
  /** Files of the package, by path; `null` is a file that is not there. */
  readonly files?: Readonly<Record<string, string | null>>;
  /** Files that were written an hour ago. */
  readonly old?: readonly string[];
  /** Whether Node's own loader must read the package, which Vitest's stands in for. */
  readonly isProcess?: boolean;
  readonly says: RegExp;
}

const built = `
import { defineToolEnv } from '@toolenv/core';
export default defineToolEnv({
  name: 'sum-v1',
  description: 'Add two numbers.',
  tasks: { train: [{ a: 1, b: 2 }, { a: 3, b: 4 }, { a: 5, b: 7 }] },
  rewards: { right: { kind: 'outcome', score: ({ answer, task }) => Number(answer === String(task.a + task.b)) } },
  episode: ({ task: { a, b } }) => ({ messages: \`What is \${a} + \${b}?\` }),
  oracle: ({ a, b }) => [String(a + b)],
});
`;

const envs = { 'sum-v1': './sum-v1' };
const entry = { types: './dist/sum-v1.d.ts', default: './dist/sum-v1.js' };
const exports = { './sum-v1': entry, './package.json': './package.json' };

/** package.json of a package that is right, after `npx tsc`. */
export const manifest = {
  name: 'sums',
  version: '0.1.0',
  description: 'Sums',
  license: 'Apache-2.0',
  keywords: ['toolenv-plugin'],
  type: 'module',
  engines: { node: '>=20.19' },
  exports,
  toolenv: { spec: 'v1', envs },
  files: ['dist'],
  dependencies: { '@toolenv/core': '^0.1.0' },
};

/** Its other files. */
export const files: Readonly<Record<string, string>> = {
  'dist/sum-v1.js': built,
  'dist/sum-v1.d.ts': "declare const env: import('@toolenv/core').EnvDefinition;\nexport default env;\n",
  'src/sum-v1.ts': built,
  'README.md': '# sums\n',
};

/** By what the author did. */
export const mistakes: Readonly<Record<string, PackageMistake>> = {
  'no manifest': {
    fields: { toolenv: undefined },
    says: /a field "toolenv" in package\.json\s+received none/,
  },
  'no spec': { fields: { toolenv: { envs } }, says: /required property 'spec'/ },
  'spec 1': {
    fields: { toolenv: { spec: 1, envs } },
    says: /toolenv\/spec: expected must be equal to constant: "v1"; received 1/,
  },
  'env for envs': {
    fields: { toolenv: { spec: 'v1', env: envs } },
    says: /toolenv\/env: expected must NOT have additional[\s\S]*"envs": \{/,
  },
  'environments for envs': {
    fields: { toolenv: { spec: 'v1', environments: envs } },
    says: /toolenv\/environments: expected must NOT have additional[\s\S]*"envs": \{/,
  },
  'a list of environments': {
    fields: { toolenv: { spec: 'v1', envs: ['sum-v1'] } },
    says: /toolenv\/envs: expected must be object/,
  },
  'an environment among the tools': {
    fields: { toolenv: { spec: 'v1', tools: envs } },
    says: /received the environment\s+hint +List it under "envs"/,
  },
  'an entry that names the file': {
    fields: { toolenv: { spec: 'v1', envs: { 'sum-v1': './dist/sum-v1.js' } } },
    says: /Name the subpath, not the file: "\.\/sum-v1"/,
  },
  'an entry that exports lacks': {
    fields: { exports: { './package.json': './package.json' } },
    says: /"\.\/sum-v1" in "exports"[\s\S]*Add the subpath to "exports"/,
  },
  'no exports': { fields: { exports: undefined }, says: /"\.\/sum-v1" in "exports"\s+received undefined/ },
  'a name without a version': {
    fields: { exports: { ...exports, './sum': entry }, toolenv: { spec: 'v1', envs: { sum: './sum' } } },
    says: /toolenv\/envs: expected must match pattern .*-v/,
  },
  'another name than that of the environment': {
    fields: {
      exports: { ...exports, './sums-v1': entry },
      toolenv: { spec: 'v1', envs: { 'sums-v1': './sums-v1' } },
    },
    says: /received the environment "sum-v1"\s+hint +Give both one name/,
  },
  'no build': {
    files: { 'dist/sum-v1.js': null, 'dist/sum-v1.d.ts': null },
    says: /no .*dist\/sum-v1\.js\s+hint +Build the package/,
  },
  'no default export in the build': {
    files: { 'dist/sum-v1.js': built.replace('export default', 'export const sum =') },
    says: /received no default export/,
  },
  'files without dist': {
    isProcess: true,
    fields: { files: ['src'] },
    says: /npm does not publish it: name its folder in "files"/,
  },
  'no keyword': { fields: { keywords: undefined }, says: /"toolenv-plugin" among the keywords/ },
  'no version': {
    fields: { version: undefined },
    says: /package\.json lacks a version, and npm packs nothing without one: add "version": "0\.1\.0"/,
  },
  'toolenv/core is no dependency': {
    fields: { dependencies: undefined },
    says: /PLUG-7[\s\S]*"@toolenv\/core" among the dependencies[\s\S]*npm install @toolenv\/core/,
  },
  'a dependency among the devDependencies': {
    fields: { dependencies: undefined, devDependencies: manifest.dependencies },
    says: /PLUG-7[\s\S]*"@toolenv\/core" among the dependencies/,
  },
  'a comma too many in package.json': {
    files: { 'package.json': JSON.stringify(manifest).replace(/}$/, ',}') },
    says: /package\.json cannot be read .*: correct its JSON/,
  },
  'no package.json': {
    files: { 'package.json': null },
    says: /cannot be read \(ENOENT.*name the folder of an npm package/,
  },
  'types that are not built': {
    files: { 'dist/sum-v1.d.ts': null },
    says: /no .*dist\/sum-v1\.d\.ts\s+hint +Build the package/,
  },
  'a file of tasks that is not packed': {
    isProcess: true,
    files: {
      'src/extra.json': '{"a":1,"b":2}',
      'dist/sum-v1.js': built
        .replace(
          'tasks: { train: [{ a: 1, b: 2 }',
          "tasks: { train: [JSON.parse(readFileSync(new URL('../src/extra.json', import.meta.url), 'utf8'))",
        )
        .replace('\n', "\nimport { readFileSync } from 'node:fs';\n"),
    },
    says: /src\/extra\.json[\s\S]*npm does not publish it: name it in "files"/,
  },
  'no name': { fields: { name: undefined }, says: /package\.json lacks a name: add one/ },
  'a source that was changed after the build': {
    fields: { scripts: { build: 'tsc' } },
    old: ['dist/sum-v1.js', 'dist/sum-v1.d.ts'],
    says: /WARN-14[\s\S]*src\/sum-v1\.ts was changed later\s+hint +Build the package: npm run build\./,
  },
  'no type of modules': {
    fields: { type: undefined },
    says: /WARN-13[\s\S]*no "type", and import or export in dist\/sum-v1\.js\s+hint +Add "type": "module"/,
  },
  'the type of CommonJS': {
    isProcess: true,
    fields: { type: 'commonjs' },
    says: /PLUG-4[\s\S]*It is an ES module: add "type": "module" to its package\.json/,
  },
  'a build as CommonJS': {
    isProcess: true,
    fields: { type: undefined },
    files: {
      'dist/sum-v1.js': built
        .replace(/import .*;/, "Object.defineProperty(exports, '__esModule', { value: true });")
        .replace('export default defineToolEnv', "exports.default = require('@toolenv/core').defineToolEnv"),
    },
    says: /PLUG-4[\s\S]*a file that was built as CommonJS\s+hint +Add "type": "module"/,
  },
  'an import without the ending of its file': {
    isProcess: true,
    files: { 'dist/sum-v1.js': `import './helper';\n${built}`, 'dist/helper.js': 'export {};\n' },
    says: /Cannot find module [\s\S]*In sum-v1\.js and its source, write the whole name of the file: "\.\/helper\.js" for "\.\/helper"/,
  },
  'an import of a folder': {
    isProcess: true,
    files: { 'dist/sum-v1.js': `import './lib';\n${built}`, 'dist/lib/index.js': 'export {};\n' },
    says: /write the whole name of the file: "\.\/lib\/index\.js" for "\.\/lib"/,
  },
  'exports that name the source': {
    isProcess: true,
    fields: {
      files: ['src'],
      exports: { './sum-v1': './src/sum-v1.ts', './package.json': './package.json' },
    },
    says: /PLUG-4[\s\S]*Node does not read TypeScript in packages: build it, and name the built file in "exports"/,
  },
  'JSON that is imported without its type': {
    isProcess: true,
    files: { 'dist/sum-v1.js': `import './rows.json';\n${built}`, 'dist/rows.json': '[]' },
    says: /PLUG-4[\s\S]*rows\.json[\s\S]*with \{ type: 'json' \}/,
  },
};
