/** Every example runs and prints its results. */
import { execFile } from 'node:child_process';
import { mkdtemp, readdir, readFile, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { expect, test } from 'vitest';

const root = join(import.meta.dirname, '../..');

async function runExample(file: string, ...args: string[]): Promise<string> {
  const flags = ['--import', 'tsx', '--conditions=@toolenv/source', join('examples', file), ...args];
  return (await promisify(execFile)(process.execPath, flags, { cwd: root })).stdout;
}

test('train-from-code.ts trains for two steps and evaluates before and after', async () => {
  const out = await mkdtemp(join(tmpdir(), 'example-'));
  try {
    const printed = (await runExample('train-from-code.ts', out)).trim().split('\n');
    expect(printed).toHaveLength(4);
    expect(printed[0]).toMatch(/^step 1 loss -?\d/);
    expect(printed[1]).toMatch(/^step 2 loss -?\d/);
    expect(printed[2]).toBe(`saved ${join(out, 'checkpoints', 'step-2')}`);
    expect(printed[3]).toMatch(/^exact match 0\.\d+ before, 0\.\d+ after$/);
    expect(await readdir(join(out, 'checkpoints'))).toEqual(['step-2']);
  } finally {
    await rm(out, { recursive: true });
  }
}, 120_000);

test('the README lists every example', async () => {
  const page = await readFile(join(root, 'examples/README.md'), 'utf8');
  const listed = [...page.matchAll(/^\| `([^`]+)`/gm)].map(([, file]) => file);
  const files = (await readdir(join(root, 'examples'))).filter((file) => file.endsWith('.ts'));
  expect(listed).toEqual(files);
});
