/** Mistakes in a package: its manifest, its build, and what npm would publish of it. */
export interface PackageMistake {
  readonly did: string;
  /** package.json as it is, from what was right. */
  readonly manifest?: (right: Manifest) => unknown;
  /** Files of the package, by path; `null` is a file that is not there. */
  readonly files?: Readonly<Record<string, string | null>>;
  /** Files that were written an hour ago. */
  readonly old?: readonly string[];
  readonly says: RegExp;
}

export interface Manifest extends Record<string, unknown> {
  exports: Record<string, unknown>;
  toolenv: Record<string, unknown>;
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

/** A package that is right, after `npx tsc`. */
export const rightPackage = {
  manifest: (): Manifest => ({
    name: 'sums',
    version: '0.1.0',
    description: 'Sums',
    license: 'Apache-2.0',
    keywords: ['toolenv-plugin'],
    type: 'module',
    engines: { node: '>=20.19' },
    exports: {
      './sum-v1': { types: './dist/sum-v1.d.ts', default: './dist/sum-v1.js' },
      './package.json': './package.json',
    },
    toolenv: { spec: 'v1', envs: { 'sum-v1': './sum-v1' } },
    files: ['dist'],
    dependencies: { '@toolenv/core': '^0.1.0' },
  }),
  files: {
    'dist/sum-v1.js': built,
    'dist/sum-v1.d.ts': "declare const env: import('@toolenv/core').EnvDefinition;\nexport default env;\n",
    'src/sum-v1.ts': built,
    'README.md': '# sums\n',
  },
} as const;

export const mistakes: readonly PackageMistake[] = [
  {
    did: 'no manifest',
    manifest: ({ toolenv: _, ...rest }) => rest,
    says: /a field "toolenv" in package\.json\s+received none/,
  },
  {
    did: 'no spec',
    manifest: (right) => ({ ...right, toolenv: { envs: right.toolenv.envs } }),
    says: /required property 'spec'/,
  },
  {
    did: 'spec 1',
    manifest: (right) => ({ ...right, toolenv: { ...right.toolenv, spec: 1 } }),
    says: /toolenv\/spec: expected must be equal to constant: "v1"; received 1/,
  },
  {
    did: 'env for envs',
    manifest: (right) => ({ ...right, toolenv: { spec: 'v1', env: right.toolenv.envs } }),
    says: /toolenv\/env: expected must NOT have additional[\s\S]*"envs": \{/,
  },
  {
    did: 'environments for envs',
    manifest: (right) => ({ ...right, toolenv: { spec: 'v1', environments: right.toolenv.envs } }),
    says: /toolenv\/environments: expected must NOT have additional[\s\S]*"envs": \{/,
  },
  {
    did: 'a list of environments',
    manifest: (right) => ({ ...right, toolenv: { spec: 'v1', envs: ['sum-v1'] } }),
    says: /toolenv\/envs: expected must be object/,
  },
  {
    did: 'an environment among the tools',
    manifest: (right) => ({ ...right, toolenv: { spec: 'v1', tools: right.toolenv.envs } }),
    says: /received the environment\s+hint +List it under "envs"/,
  },
  {
    did: 'an entry that names the file',
    manifest: (right) => ({ ...right, toolenv: { spec: 'v1', envs: { 'sum-v1': './dist/sum-v1.js' } } }),
    says: /Name the subpath, not the file: "\.\/sum-v1"/,
  },
  {
    did: 'an entry that exports lacks',
    manifest: (right) => ({ ...right, exports: { './package.json': './package.json' } }),
    says: /"\.\/sum-v1" in "exports"[\s\S]*Add the subpath to "exports"/,
  },
  {
    did: 'no exports',
    manifest: ({ exports: _, ...rest }) => rest,
    says: /"\.\/sum-v1" in "exports"\s+received undefined/,
  },
  {
    did: 'a name without a version',
    manifest: (right) => ({
      ...right,
      exports: { ...right.exports, './sum': right.exports['./sum-v1'] },
      toolenv: { spec: 'v1', envs: { sum: './sum' } },
    }),
    says: /toolenv\/envs: expected must match pattern .*-v/,
  },
  {
    did: 'another name than that of the environment',
    manifest: (right) => ({
      ...right,
      exports: { ...right.exports, './sums-v1': right.exports['./sum-v1'] },
      toolenv: { spec: 'v1', envs: { 'sums-v1': './sums-v1' } },
    }),
    says: /received the environment "sum-v1"\s+hint +Give both one name/,
  },
  {
    did: 'no build',
    files: { 'dist/sum-v1.js': null, 'dist/sum-v1.d.ts': null },
    says: /no .*dist\/sum-v1\.js\s+hint +Build the package/,
  },
  {
    did: 'no default export in the build',
    files: { 'dist/sum-v1.js': built.replace('export default', 'export const sum =') },
    says: /received no default export/,
  },
  {
    did: 'files without dist',
    manifest: (right) => ({ ...right, files: ['src'] }),
    says: /npm does not publish it: name its folder in "files"/,
  },
  {
    did: 'no keyword',
    manifest: ({ keywords: _, ...rest }) => rest,
    says: /"toolenv-plugin" among the keywords/,
  },
  {
    did: 'no version',
    manifest: ({ version: _, ...rest }) => rest,
    says: /package\.json lacks a version, and npm packs nothing without one: add "version": "0\.1\.0"/,
  },
  {
    did: 'toolenv/core is no dependency',
    manifest: ({ dependencies: _, ...rest }) => rest,
    says: /PLUG-7[\s\S]*"@toolenv\/core" among the dependencies[\s\S]*npm install @toolenv\/core/,
  },
  {
    did: 'a dependency among the devDependencies',
    manifest: ({ dependencies, ...rest }) => ({ ...rest, devDependencies: dependencies }),
    says: /PLUG-7[\s\S]*"@toolenv\/core" among the dependencies/,
  },
  {
    did: 'a comma too many in package.json',
    manifest: (right) => JSON.stringify(right).replace(/}$/, ',}'),
    says: /package\.json cannot be read .*: correct its JSON/,
  },
  {
    did: 'no package.json',
    manifest: () => undefined,
    says: /cannot be read \(ENOENT.*name the folder of an npm package/,
  },
  {
    did: 'types that are not built',
    files: { 'dist/sum-v1.d.ts': null },
    says: /no .*dist\/sum-v1\.d\.ts\s+hint +Build the package/,
  },
  {
    did: 'a file of tasks that is not packed',
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
  {
    did: 'no name',
    manifest: ({ name: _, ...rest }) => rest,
    says: /package\.json lacks a name: add one/,
  },
  {
    did: 'a source that was changed after the build',
    manifest: (right) => ({ ...right, scripts: { build: 'tsc' } }),
    old: ['dist/sum-v1.js', 'dist/sum-v1.d.ts'],
    says: /WARN-14[\s\S]*src\/sum-v1\.ts was changed later\s+hint +Build the package: npm run build\./,
  },
  {
    did: 'no type of modules',
    manifest: ({ type: _, ...rest }) => rest,
    says: /WARN-13[\s\S]*no "type", and import or export in dist\/sum-v1\.js\s+hint +Add "type": "module"/,
  },
  {
    did: 'the type of CommonJS',
    manifest: (right) => ({ ...right, type: 'commonjs' }),
    says: /PLUG-4[\s\S]*It is an ES module: add "type": "module" to its package\.json/,
  },
  {
    did: 'a build as CommonJS',
    manifest: ({ type: _, ...rest }) => rest,
    files: {
      'dist/sum-v1.js': built
        .replace(/import .*;/, "Object.defineProperty(exports, '__esModule', { value: true });")
        .replace('export default defineToolEnv', "exports.default = require('@toolenv/core').defineToolEnv"),
    },
    says: /PLUG-4[\s\S]*a file that was built as CommonJS\s+hint +Add "type": "module"/,
  },
  {
    did: 'an import without the ending of its file',
    files: { 'dist/sum-v1.js': `import './helper';\n${built}`, 'dist/helper.js': 'export {};\n' },
    says: /Cannot find module [\s\S]*In sum-v1\.js and its source, write the whole name of the file: "\.\/helper\.js" for "\.\/helper"/,
  },
  {
    did: 'an import of a folder',
    files: { 'dist/sum-v1.js': `import './lib';\n${built}`, 'dist/lib/index.js': 'export {};\n' },
    says: /write the whole name of the file: "\.\/lib\/index\.js" for "\.\/lib"/,
  },
  {
    did: 'exports that name the source',
    manifest: (right) => ({
      ...right,
      files: ['src'],
      exports: { ...right.exports, './sum-v1': './src/sum-v1.ts' },
    }),
    says: /PLUG-4[\s\S]*Node does not read TypeScript in packages: build it, and name the built file in "exports"/,
  },
  {
    did: 'JSON that is imported without its type',
    files: { 'dist/sum-v1.js': `import './rows.json';\n${built}`, 'dist/rows.json': '[]' },
    says: /PLUG-4[\s\S]*rows\.json[\s\S]*with \{ type: 'json' \}/,
  },
];
