/** Every example of the help that trains is run as it is printed, and the policy becomes better. */
import { execFile } from 'node:child_process';
import { mkdtemp, rm, symlink } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { readMetrics } from '@toolenv/training';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { helpTexts } from '../../packages/cli/src/flags/help-texts.ts';
import { shell, shellEnv } from './shell.ts';

const root = join(import.meta.dirname, '../..');
let folder: string;
beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), 'help-examples-'));
  await symlink(join(root, 'node_modules'), join(folder, 'node_modules'));
});
afterAll(() => rm(folder, { recursive: true }));

const all = Object.values(helpTexts).flatMap(({ examples }) => examples);
// Two helps begin with the same example.
const training = [...new Set(all.filter((example) => example.startsWith('toolenv train ')))];

/** Share of right answers in each step. */
async function learned(out: string): Promise<number[]> {
  const metrics = await readMetrics(join(folder, out));
  return metrics.flatMap((event) => (event.type === 'rollout' ? [event.metrics['rewards/em/mean']!] : []));
}

test('some examples train', () => expect(training).toHaveLength(3));

// A resumed run needs the run before it.
test.each(training)('%s', { timeout: 600_000 }, async (example) => {
  const env = { ...process.env, ...shellEnv };
  await promisify(execFile)('bash', ['-c', `${shell}npx ${example}`], { cwd: folder, env });
  const [, out, steps] = [
    example,
    /--out (\S+)/.exec(example)![1]!,
    Number(/--steps (\d+)/.exec(example)![1]),
  ];
  const right = await learned(out);
  expect(right).toHaveLength(steps);
  const mean = (values: readonly number[]) => values.reduce((sum, value) => sum + value, 0) / values.length;
  // Of 64 answers in a step about six are right at first, and 50 in the end.
  expect(mean(right.slice(-2)) - mean(right.slice(0, 2))).toBeGreaterThan(0.25);
});
