/** The README's example runs unchanged and gives the expected result. */
import { execFile } from 'node:child_process';
import { mkdtemp, readFile, rm, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { expect, test } from 'vitest';

const root = join(import.meta.dirname, '../..');

test('the example rolls as many sixes as expected by chance', async () => {
  const readme = await readFile(join(root, 'README.md'), 'utf8');
  const example = /```ts\n([\s\S]*?)```/.exec(readme)![1]!;
  const folder = await mkdtemp(join(root, 'workshop', 'test', 'readme-'));
  try {
    const file = join(folder, 'example.ts');
    await writeFile(file, example);
    const tsx = join(root, 'node_modules', '.bin', 'tsx');
    const { stdout } = await promisify(execFile)(tsx, ['--conditions=@toolenv/source', file]);
    const sixes = Number(/^(\d+) of 100 rolled a six in three tries$/m.exec(stdout)![1]);
    // 1 − (5/6)³ = 0.42; four standard deviations are 0.2.
    expect(sixes).toBeGreaterThan(22);
    expect(sixes).toBeLessThan(62);
  } finally {
    await rm(folder, { recursive: true });
  }
});
