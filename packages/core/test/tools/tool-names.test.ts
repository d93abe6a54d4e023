/** Names of tools that model servers accept. */
import { ToolNames, usableToolName } from '@toolenv/core/tools';
import fc from 'fast-check';
import { expect, test } from 'vitest';

test('keeps usable names, and gives the others different ones', () => {
  const long = 'x'.repeat(70);
  const given = ['a b', 'a_b', 'a.b', '🐍', '"', 'line\nbreak', long, `${long}y`];
  expect([...new ToolNames().of(given).values()]).toEqual([
    'a_b_2',
    'a_b',
    'a_b_3',
    'tool',
    'tool_2',
    'line_break',
    'x'.repeat(64),
    `${'x'.repeat(62)}_2`,
  ]);
});

test('a tool keeps its name when the list changes', () => {
  const names = new ToolNames();
  expect(names.of(['a b']).get('a b')).toBe('a_b');
  expect([...names.of(['a_b', 'a b'])]).toEqual([
    ['a_b', 'a_b_2'],
    ['a b', 'a_b'],
  ]);
});

test('any names become different names that OpenAI accepts', () => {
  fc.assert(
    fc.property(fc.uniqueArray(fc.string({ unit: 'grapheme', maxLength: 80 })), (given) => {
      const names = [...new ToolNames().of(given).values()];
      expect(new Set(names).size).toBe(given.length);
      for (const name of names) expect(name).toMatch(/^[a-zA-Z0-9_-]{1,64}$/);
      for (const name of given) expect(usableToolName(name)).toMatch(/^[a-zA-Z0-9_-]{1,64}$/);
    }),
  );
});
