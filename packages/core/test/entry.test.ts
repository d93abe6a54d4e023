/** The entry of core is the standard: what it imports reads no file, asks no server and is no server. */
import { existsSync, readFileSync } from 'node:fs';
import { dirname, join, relative } from 'node:path';
import { expect, test } from 'vitest';

const source = join(import.meta.dirname, '../src');
const machine =
  /^node:(fs|fs\/promises|http|https|http2|net|tls|dgram|dns|child_process|worker_threads|module)$/;

/** Each module of Node that the file imports, through any number of files, and the files on the way. */
function nodeModulesOf(file: string, way: readonly string[] = [], seen = new Map<string, string[]>()) {
  const text = readFileSync(file, 'utf8');
  for (const [, from] of text.matchAll(/^(?:import|export)(?! type)\s[^'"]*?['"]([^'"]+)['"];/gm)) {
    const path = join(dirname(file), from!);
    if (!from!.startsWith('.')) {
      if (from!.startsWith('node:')) seen.set(from!, [...way, file]);
    } else if (!seen.has(path)) {
      expect(existsSync(path), path).toBe(true);
      seen.set(path, []);
      nodeModulesOf(path, [...way, file], seen);
    }
  }
  return seen;
}

test('the entry imports nothing that reads files, asks servers or serves', () => {
  const all = nodeModulesOf(join(source, 'index.ts'));
  expect(all.size).toBeGreaterThan(60);
  const ways = [...all].flatMap(([name, way]) =>
    machine.test(name) ? [`${name}: ${way.map((file) => relative(source, file)).join(' > ')}`] : [],
  );
  expect(ways).toEqual([]);
});

test('the entry of files reads files, as the same search finds', () => {
  const all = nodeModulesOf(join(source, 'files/index.ts'));
  expect([...all.keys()]).toEqual(expect.arrayContaining(['node:fs', 'node:fs/promises']));
});

test('nothing in the entry calls fetch', () => {
  const files = [...nodeModulesOf(join(source, 'index.ts')).keys()].filter((name) => name.endsWith('.ts'));
  const asking = files.filter((file) => /(?<![\w.])fetch\(/.test(readFileSync(file, 'utf8')));
  expect(asking).toEqual([]);
});
