/** The README's example runs, and its table names every check. */
import { mkdtemp, readFile, rm, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { expect, onTestFinished, test, vi } from 'vitest';
import * as kit from '../src/index.ts';

const readme = await readFile(join(import.meta.dirname, '..', 'README.md'), 'utf8');

test('the tool of the example follows every rule that applies to it', async () => {
  const folder = await mkdtemp(join(import.meta.dirname, 'readme-'));
  onTestFinished(() => rm(folder, { recursive: true }));
  const file = join(folder, 'example.ts');
  await writeFile(file, /```ts\n([\s\S]*?)```/.exec(readme)![1]!);
  const log = vi.spyOn(console, 'log').mockImplementation(() => {});
  await import(file);
  // Two rules apply only to tools whose annotations say that they only read.
  expect(log.mock.calls).toEqual([['12 rules hold, 2 were not checked']]);
}, 30_000);

test('the table names every check', () => {
  const checks = Object.keys(kit).filter((name) => name.startsWith('check'));
  const named = [...readme.matchAll(/`(check\w+)`(?=[^\n]*\|[^\n]*\|)/g)].map((match) => match[1]!);
  expect(named.sort()).toEqual(checks.sort());
});
