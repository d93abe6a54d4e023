/** Each promise of SECURITY.md has tests in guarantees.json, each of these exists, and each part of `npm run chaos` holds a promise. */
import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { parts } from '../chaos/parts.ts';

const root = join(import.meta.dirname, '../..');
const read = (path: string) => readFileSync(join(root, path), 'utf8');

/**
 * By boundary and promise, the tests that show it: `chaos part: name` is a check of a part of `npm run chaos`, and `path: title` a test of
 * that file.
 */
const guarantees: Record<string, Record<string, string[]>> = JSON.parse(
  read('workshop/test/guarantees.json'),
);
const named = Object.values(guarantees).flatMap((promises) => Object.values(promises).flat());
const checks = named.flatMap((each) => {
  const [, part, name] = /^chaos (\w+): (.+)$/.exec(each) ?? [];
  return part === undefined ? [] : [{ part, name: name! }];
});
const titles = named.flatMap((each) => {
  const [, file, title] = /^([\w./-]+\/[\w.-]+\.ts): (.+)$/.exec(each) ?? [];
  return file === undefined ? [] : [{ file, title: title! }];
});

/** The lists below the headings of boundaries, in their order. */
function promisesOf(page: string): [boundary: string, promises: string[]][] {
  const section = page.split('\n## ').find((part) => part.startsWith('What each boundary guarantees'))!;
  return section
    .split('\n### ')
    .slice(1)
    .map((part) => {
      const [boundary, ...lines] = part.split('\n');
      return [boundary!, lines.flatMap((line) => (line.startsWith('- ') ? [line.slice(2)] : []))];
    });
}

test('SECURITY.md has the promises that have tests, and no others', () => {
  const promises = promisesOf(read('SECURITY.md'));
  expect(promises).toEqual(
    Object.entries(guarantees).map(([boundary, each]) => [boundary, Object.keys(each)]),
  );
  expect(promises.flatMap(([, each]) => each).length).toBeGreaterThan(70);
});

test('every promise has tests, and each is written in a form that is looked for', () => {
  for (const promises of Object.values(guarantees))
    for (const [promise, tests] of Object.entries(promises)) expect(tests, promise).not.toEqual([]);
  expect(checks.length + titles.length).toBe(named.length);
});

test.each(checks)('chaos $part: $name exists', ({ part, name }) => {
  expect(checksOf(part).some((pattern) => pattern.test(name))).toBe(true);
});

test.each(titles)('$file has "$title"', ({ file, title }) => {
  const source = read(file);
  expect(
    ["'", '"', '`'].some(
      (quote) =>
        source.includes(`(${quote}${title}${quote}`) || source.includes(`  ${quote}${title}${quote},\n`),
    ),
  ).toBe(true);
});

test('each part of the soak holds a promise', () => {
  expect(new Set(checks.map(({ part }) => part))).toEqual(new Set(parts.map(({ name }) => name)));
});

/** The names of the checks of a part, as its source has them. What is filled in may be anything. */
function checksOf(part: string): RegExp[] {
  const folder = join(import.meta.dirname, '../chaos', part);
  const sources = readdirSync(folder).map((name) => readFileSync(join(folder, name), 'utf8'));
  const names = sources.flatMap((source) =>
    [...source.matchAll(/\bcheck(?:None)?\(\s*(['`])(.+?)\1/g)].map((match) => match[2]!),
  );
  return names.map((name) => {
    const fixed = name.split(/\$\{[^}]+\}/).map((piece) => piece.replaceAll(/[.*+?^$()[\]{}|\\]/g, '\\$&'));
    return new RegExp(`^${fixed.join('.+')}$`);
  });
}
