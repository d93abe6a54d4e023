/** What packages bring with them cannot grow unseen. */
import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { closureOf, type Lock } from '../dependencies/closure.ts';
import { root, tableFile, type WeightTable, weighAll, weightText } from '../dependencies/weigh.ts';

const table: WeightTable = JSON.parse(readFileSync(tableFile, 'utf8'));
const remedy =
  'If the change is meant, run `npm run dependencies` on Linux x64 after `npm ci`, and commit what it writes.';
const names = Object.keys(table);
const folders = readdirSync(join(root, 'packages'));
const manifest = (folder: string) =>
  JSON.parse(readFileSync(join(root, 'packages', folder, 'package.json'), 'utf8'));
const weighed = weighAll();

test('every published package has a row', () => {
  const published = folders.map(manifest).filter((json) => !json.private);
  expect(names, remedy).toEqual(published.map(({ name }) => name).sort());
});

test.each(names)('%s brings as many packages as before', (name) => {
  const { packages, optional } = weighed[name]!;
  expect({ packages, optional }, remedy).toEqual({
    packages: table[name]!.packages,
    optional: table[name]!.optional,
  });
});

// Elsewhere other binaries are installed.
const weighs = process.platform === 'linux' && process.arch === 'x64';
test.runIf(weighs).each(names)('%s weighs what its README says', (name) => {
  const { megabytes } = table[name]!;
  // Install scripts and caches add a little.
  expect(Math.abs(weighed[name]!.megabytes - megabytes), remedy).toBeLessThanOrEqual(0.3 + 0.1 * megabytes);
});

test.each(folders)('the README of %s says what the package brings', (folder) => {
  const readme = readFileSync(join(root, 'packages', folder, 'README.md'), 'utf8');
  const { name } = manifest(folder);
  expect(readme, remedy).toContain(weightText(name, table[name]!));
});

test('the heavy packages come only with the packages that need them', () => {
  const lock: Lock = JSON.parse(readFileSync(join(root, 'package-lock.json'), 'utf8')).packages;
  const bringing = (pattern: RegExp) =>
    folders.filter((folder) => {
      const { required, optional } = closureOf(lock, `packages/${folder}`);
      return [...required, ...optional].some((path) => pattern.test(path));
    });
  expect(bringing(/@lancedb\//)).toEqual(['tools-search']);
  expect(bringing(/onnxruntime/)).toEqual(['policy']);
  expect(bringing(/node-sqlite3-wasm/)).toEqual(['envs-classic']);
  expect(bringing(/@modelcontextprotocol\//)).toEqual(['envs-mcp', 'harnesses', 'mcp']);
});

test('a closure follows required peers, keeps optional packages apart and leaves optional peers out', () => {
  const lock: Lock = {
    'packages/a': {
      dependencies: { b: '1', own: '1' },
      optionalDependencies: { binary: '1' },
      peerDependencies: { peer: '1', maybe: '1' },
      peerDependenciesMeta: { maybe: { optional: true } },
    },
    'node_modules/own': { link: true, resolved: 'packages/own' },
    'packages/own': { dependencies: { c: '1' } },
    'node_modules/b': { dependencies: { c: '2' } },
    'node_modules/b/node_modules/c': { dependencies: { b: '1' } },
    'node_modules/c': {},
    'node_modules/peer': {},
    'node_modules/maybe': {},
    'node_modules/binary': { dependencies: { d: '1' } },
    'node_modules/d': {},
  };
  expect(closureOf(lock, 'packages/a')).toEqual({
    required: ['node_modules/b', 'node_modules/b/node_modules/c', 'node_modules/c', 'node_modules/peer'],
    optional: ['node_modules/binary', 'node_modules/d'],
  });
});

test('the templates do not bring the heavy search tool', () => {
  const templates = readdirSync(join(root, 'templates'));
  const bringing = templates.filter((name) =>
    readFileSync(join(root, 'templates', name, 'package.json'), 'utf8').includes('@toolenv/tools-search'),
  );
  expect(bringing).toEqual([]);
});
