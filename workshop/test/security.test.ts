/** Each guarantee of SECURITY.md names tests, each of these exists, and each area of attacks holds a guarantee. */
import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { areas } from '../chaos/attacks/areas.ts';
import { parts } from '../chaos/parts.ts';

const root = join(import.meta.dirname, '../..');
const text = readFileSync(join(root, 'SECURITY.md'), 'utf8');
const rows = text
  .split('\n')
  .filter((line) => /^\| (?!guarantee|---)/.test(line))
  .map((line) => line.split('|').map((cell) => cell.trim()))
  .map(([, guarantee, tests]) => ({ guarantee: guarantee!, tests: tests! }));

const namedTests = (cell: string) => {
  const files = [...cell.matchAll(/`([\w./-]+\.test\.ts)`((?:,? "[^"]+")+)/g)];
  return {
    titles: files.flatMap(([, file, titles]) =>
      [...titles!.matchAll(/"([^"]+)"/g)].map((match) => ({ file: file!, title: match[1]! })),
    ),
    others: [...cell.matchAll(/`(\w[\w ]*): ([^`]+)`/g)].map(([, where, name]) => ({
      where: where!,
      name: name!,
    })),
  };
};
const all = rows.map(({ tests }) => namedTests(tests));
const others = all.flatMap((each) => each.others);

test('every guarantee names tests, and nothing else stands beside them', () => {
  expect(rows.length).toBeGreaterThan(30);
  for (const [n, { guarantee, tests }] of rows.entries()) {
    const { titles, others } = all[n]!;
    expect(titles.length + others.length, guarantee).toBeGreaterThan(0);
    expect(tests.replaceAll(/`[^`]*`|"[^"]*"/g, '').trim(), guarantee).toMatch(/^[,; ]*$/);
  }
});

test.each(others)('$where: $name exists', ({ where, name }) => {
  const part = /^chaos (\w+)$/.exec(where)?.[1];
  if (part === undefined) expect(areas[where]?.map((attack) => attack.name)).toContain(name);
  else expect(checksOf(part).some((pattern) => pattern.test(name))).toBe(true);
});

test.each(all.flatMap(({ titles }) => titles))('$file has "$title"', ({ file, title }) => {
  const source = readFileSync(join(root, file), 'utf8');
  expect(
    ["'", '"', '`'].some(
      (quote) =>
        source.includes(`(${quote}${title}${quote}`) || source.includes(`  ${quote}${title}${quote},\n`),
    ),
  ).toBe(true);
});

test('each area of attacks and each other part holds a guarantee', () => {
  const named = (pattern: RegExp) =>
    [...new Set(others.flatMap(({ where }) => pattern.exec(where)?.[1] ?? []))].sort();
  expect(named(/^(\w+)$/)).toEqual(Object.keys(areas).sort());
  const beside = parts.map(({ name }) => name).filter((name) => name !== 'attacks');
  expect(named(/^chaos (\w+)$/)).toEqual(beside.sort());
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
