/** Each guarantee of SECURITY.md names what holds it, and nothing that holds a guarantee is missing. */
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { areas } from '../chaos/attacks/areas.ts';
import { parts } from '../chaos/parts.ts';

const text = readFileSync(join(import.meta.dirname, '../../SECURITY.md'), 'utf8');
const rows = text
  .slice(text.indexOf('| boundary |'))
  .split('\n')
  .slice(2)
  .filter((line) => line.startsWith('|'))
  .map((line) => line.split('|').map((cell) => cell.trim()));
const named = (pattern: RegExp) => [...new Set([...text.matchAll(pattern)].map((match) => match[1]!))].sort();

test('every boundary has a guarantee and something that holds it', () => {
  expect(rows.length).toBeGreaterThan(5);
  for (const [, boundary, guarantee, , heldBy] of rows) {
    expect(guarantee, boundary).not.toBe('');
    expect(heldBy, boundary).toMatch(/chaos `|attacks `|\.test\.ts`/);
  }
});

test('the parts and attacks that it names are those that exist', () => {
  expect(named(/attacks `(\w+)`/g)).toEqual(Object.keys(areas).sort());
  const others = parts.map(({ name }) => name).filter((name) => name !== 'attacks');
  expect(named(/chaos `(\w+)`/g)).toEqual(others.sort());
});
