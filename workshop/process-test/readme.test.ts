/** The examples of the READMEs run with small numbers, or unchanged, and give the expected results. */
import { execFile } from 'node:child_process';
import { existsSync } from 'node:fs';
import { mkdtemp, readdir, readFile, rm, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { isDeepStrictEqual, promisify } from 'node:util';
import { readCheckpoint } from '@toolenv/policy';
import { readMetrics } from '@toolenv/training';
import { expect, onTestFinished, test } from 'vitest';

const root = join(import.meta.dirname, '../..');
const checkpoint = join(root, 'packages/checkpoints/tiny');

/** The blocks of TypeScript of a page. */
async function examplesOf(page: string): Promise<string[]> {
  const text = await readFile(join(root, page), 'utf8');
  return [...text.matchAll(/```ts\n([\s\S]*?)```/g)].map((match) => match[1]!);
}

/** Runs an example on the built packages, in a folder of its own; each text of `changes` must be in it. */
async function run(
  example: string,
  changes: Readonly<Record<string, string>> = {},
): Promise<{ stdout: string; folder: string }> {
  const folder = await mkdtemp(join(import.meta.dirname, 'readme-'));
  onTestFinished(() => rm(folder, { recursive: true }));
  let program = example;
  for (const [text, other] of Object.entries(changes)) {
    expect(program).toContain(text);
    program = program.replaceAll(text, other);
  }
  await writeFile(join(folder, 'example.ts'), program);
  const tsx = join(root, 'node_modules', '.bin', 'tsx');
  const { stdout } = await promisify(execFile)(tsx, ['example.ts'], { cwd: folder });
  return { stdout, folder };
}

test('the dice roll as many sixes as expected by chance', async () => {
  const [, dice] = await examplesOf('README.md');
  const { stdout } = await run(dice!);
  const share = Number(/^100 episodes, (0\.\d+) of them with a six in three tries$/m.exec(stdout)![1]);
  // 1 − (5/6)³ = 0.42; four standard deviations are 0.2.
  expect(share).toBeGreaterThan(0.22);
  expect(share).toBeLessThan(0.62);
});

test('the README evaluates, trains, evaluates and saves in at most 20 lines', async () => {
  const [training] = await examplesOf('README.md');
  expect(training!.trimEnd().split('\n').length).toBeLessThanOrEqual(20);
  const { stdout, folder } = await run(training!, {
    'node_modules/@toolenv/checkpoints/tiny': checkpoint,
    'evaluate({ env, policy })': 'evaluate({ env, policy, count: 16, maxTokens: 64 })',
    'steps: 80': 'steps: 2, tasksPerStep: 4, groupSize: 4',
  });
  const lines = stdout.trim().split('\n');
  expect(lines.slice(0, -1).map((line) => /^step \d/.exec(line)?.[0])).toEqual(['step 1', 'step 2']);
  expect(lines.at(-1)).toMatch(/^exact match 0(\.\d+)? before, 0(\.\d+)? after$/);
  const [name] = await readdir(join(folder, 'runs'));
  const metrics = await readMetrics(join(folder, 'runs', name!));
  expect(metrics.map(({ type, step }) => `${type} ${step}`)).toEqual([
    'rollout 1',
    'update 1',
    'rollout 2',
    'update 2',
  ]);
  const saved = await readCheckpoint(join(folder, 'my-policy'));
  // `toEqual` takes seconds for a million numbers.
  const hasWeightsOf = async (other: string) =>
    isDeepStrictEqual(saved.weights, (await readCheckpoint(other)).weights);
  expect(await hasWeightsOf(join(folder, 'runs', name!, 'policy'))).toBe(true);
  expect(await hasWeightsOf(checkpoint)).toBe(false);
});

test('the README of @toolenv/training evaluates and trains with the default trainer', async () => {
  const [example] = await examplesOf('packages/training/README.md');
  const { stdout, folder } = await run(example!, {
    'my-checkpoint': checkpoint,
    'count: 100': 'count: 8, maxTokens: 32',
    'steps: 20': 'steps: 1, tasksPerStep: 2, groupSize: 4, maxTokens: 32',
  });
  expect(stdout).toMatch(/^reward 0[^\n]*, exact match 0[^\n]*\nstep 1, loss -?\d[^\n]*\n$/);
  expect(existsSync(join(folder, 'runs/mine/policy/model.safetensors'))).toBe(true);
});
