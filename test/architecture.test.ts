/** Holds the arrows of ARCHITECTURE.md: who may depend on whom. */
import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, test } from 'vitest';

const packages = join(import.meta.dirname, '..', 'packages');
const folders = readdirSync(packages);
/** Those that need no package of ours; create-toolenv needs none at all, for `npm create` installs it anew each time. */
const standalone = ['core', 'create-toolenv'];

function read(folder: string, file: string): string {
  return readFileSync(join(packages, folder, file), 'utf8');
}

function importsOf(folder: string): { file: string; specifier: string }[] {
  const files = readdirSync(join(packages, folder, 'src'), { recursive: true, encoding: 'utf8' });
  return files
    .filter((file) => file.endsWith('.ts'))
    .flatMap((file) => {
      const statements = read(folder, join('src', file)).matchAll(/(?:from|import)\s+'([^']+)'/g);
      return [...statements].map((match) => ({ file, specifier: match[1]! }));
    });
}

describe.each(folders)('packages/%s', (folder) => {
  const manifest = JSON.parse(read(folder, 'package.json')) as {
    name: string;
    dependencies?: Record<string, string>;
    peerDependencies?: Record<string, string>;
  };
  const declared = Object.keys({ ...manifest.dependencies, ...manifest.peerDependencies });

  test('depends on no package of ours but core', () => {
    const ours = declared.filter((name) => name.startsWith('@toolenv/') || name === 'toolenv');
    expect(ours).toEqual(standalone.includes(folder) ? [] : ['@toolenv/core']);
  });

  test('imports only what it declares', () => {
    const foreign = importsOf(folder).filter(({ specifier }) => !/^(node:|\.{1,2}\/)/.test(specifier));
    expect(foreign.length > 0).toBe(folder !== 'create-toolenv');
    const undeclared = foreign.filter(
      ({ specifier }) => !declared.some((name) => specifier === name || specifier.startsWith(`${name}/`)),
    );
    expect(undeclared).toEqual([]);
  });
});

test('only packages/mcp speaks MCP, and needs nothing else for it', () => {
  const speakers = folders.filter((folder) =>
    importsOf(folder).some(({ specifier }) => specifier.startsWith('@modelcontextprotocol/')),
  );
  expect(speakers).toEqual(['mcp']);
  const { dependencies } = JSON.parse(read('mcp', 'package.json')) as { dependencies: object };
  expect(Object.keys(dependencies).sort()).toEqual(['@modelcontextprotocol/sdk', '@toolenv/core']);
});

test('the conformance kit is for tests and checks: nothing else needs it, nor fast-check', () => {
  const importers = folders.flatMap((folder) =>
    importsOf(folder)
      .filter(({ specifier }) => /^fast-check$|(^@toolenv\/core|\.)\/testing(\/|$)/.test(specifier))
      .map(({ file }) => `${folder}/${file}`),
  );
  const kit = importers.filter((file) => file.startsWith('core/testing/'));
  expect(kit.length).toBeGreaterThan(0);
  expect(importers.filter((file) => !kit.includes(file)).sort()).toEqual([
    'cli/check-command.ts',
    'cli/check-subject.ts',
    'cli/report-view.ts',
  ]);
});

/** The folders of the policy, and those that each may need. */
const layers: Record<string, string[]> = {
  runtime: [],
  model: ['runtime'],
  checkpoint: ['model', 'runtime'],
  chat: ['checkpoint'],
  sampler: ['model', 'runtime'],
  learner: ['checkpoint', 'model', 'runtime'],
};

test("the policy's folders need only those below them", () => {
  const between = importsOf('policy').flatMap(({ file, specifier }) => {
    const [from, to] = [file, join(file, '..', specifier)].map((path) => path.split('/')[0]!);
    return specifier.startsWith('.') && layers[from!] && from !== to ? [{ file, from: from!, to: to! }] : [];
  });
  expect(new Set(between.map(({ from }) => from)).size).toBe(Object.keys(layers).length - 1);
  expect(between.filter(({ from, to }) => !layers[from]!.includes(to))).toEqual([]);
});
