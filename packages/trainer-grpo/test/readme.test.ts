/** The README's example prints what it says, and its tables name every algorithm and option. */
import { mkdtemp, readFile, rm, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { format } from 'node:util';
import { algorithms, gigpo } from '@toolenv/trainer-grpo';
import { expect, test, vi } from 'vitest';

const readme = await readFile(join(import.meta.dirname, '..', 'README.md'), 'utf8');

test('the example prints the output on the page', async () => {
  const example = /```ts\n([\s\S]*?)```/.exec(readme)![1]!;
  const printed = /^prints `(.*)`\.$/m.exec(readme)![1]!;
  const folder = await mkdtemp(join(import.meta.dirname, 'readme-'));
  try {
    const file = join(folder, 'example.ts');
    await writeFile(file, example);
    const log = vi.spyOn(console, 'log').mockImplementation(() => {});
    await import(file);
    const lines = log.mock.calls.map((values) => format(...values));
    expect(lines.join('\n').replaceAll('-0.000', '0.000')).toBe(printed);
  } finally {
    await rm(folder, { recursive: true });
  }
});

test('the table lists all algorithms in order', () => {
  const rows = [...readme.matchAll(/^\| `([a-z][a-z_+-]*)`(?: \(default\))? +\|/gm)].map(([, name]) => name);
  expect(rows.slice(0, 12)).toEqual(Object.keys(algorithms));
});

test('every flag on the page is an option with a valid value', () => {
  const properties = gigpo.options.properties as Record<string, { enum?: string[] }>;
  const own = readme.replace(/npx toolenv train.*?--algorithm/, '--algorithm');
  for (const [, flag, value] of own.matchAll(/--(?:no-)?([a-z][a-z-]*)(?: ([a-z_|0-9]+))?/g)) {
    const name = flag!.replace(/-([a-z])/g, (_, letter: string) => letter.toUpperCase());
    expect(properties, flag).toHaveProperty(name);
    const { enum: choices } = properties[name]!;
    if (choices && value) for (const one of value.split('|')) expect(choices).toContain(one);
  }
});
