/** The README's example runs, and its table names every check. */
import { execFile } from 'node:child_process';
import { mkdtemp, readFile, rm, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { expect, onTestFinished, test } from 'vitest';
import * as kit from '../src/index.ts';

const readme = await readFile(join(import.meta.dirname, '..', 'README.md'), 'utf8');

test('the tool of the example follows every rule that applies to it', async () => {
  const folder = await mkdtemp(join(import.meta.dirname, 'readme-'));
  onTestFinished(() => rm(folder, { recursive: true }));
  await writeFile(join(folder, 'example.ts'), /```ts\n([\s\S]*?)```/.exec(readme)![1]!);
  const node = ['--import', import.meta.resolve('tsx'), '--conditions=@toolenv/source', 'example.ts'];
  const { stdout } = await promisify(execFile)(process.execPath, node, { cwd: folder });
  // Two rules apply only to tools whose annotations say that they only read.
  expect(stdout).toBe('12 rules hold, 2 were not checked\n');
}, 30_000);

test('the table names every check', () => {
  const checks = Object.keys(kit).filter((name) => name.startsWith('check'));
  const named = [...readme.matchAll(/`(check\w+)`(?=[^\n]*\|[^\n]*\|)/g)].map((match) => match[1]!);
  expect(named.sort()).toEqual(checks.sort());
});
