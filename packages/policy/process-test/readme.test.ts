/** Runs the README's examples: training, on the tiny policy, and the program with its printed output. */
import { execFile } from 'node:child_process';
import { mkdtemp, readFile, rm, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { expect, onTestFinished, test } from 'vitest';
import { readSafetensors } from '../src/checkpoint/safetensors.ts';

const root = join(import.meta.dirname, '..', '..', '..');
const checkpoint = join(root, 'packages/checkpoints/tiny');
const readme = await readFile(join(import.meta.dirname, '..', 'README.md'), 'utf8');
const examples = [...readme.matchAll(/```ts\n([\s\S]*?)```/g)].map((match) => match[1]!);

/** Runs an example; returns its output and its folder. */
async function run(example: string): Promise<{ stdout: string; folder: string }> {
  const folder = await mkdtemp(join(import.meta.dirname, 'readme-'));
  onTestFinished(() => rm(folder, { recursive: true }));
  const file = join(folder, 'example.ts');
  await writeFile(file, example);
  const tsx = join(root, 'node_modules', '.bin', 'tsx');
  const { stdout } = await promisify(execFile)(tsx, ['--conditions=@toolenv/source', file], { cwd: folder });
  return { stdout, folder };
}

test('ten steps of REINFORCE change the weights and write a checkpoint', async () => {
  // The tiny policy writes this word in about half of its answers.
  const example = examples[0]!.replace('my-checkpoint', checkpoint).replace("'Rhine'", "'search'");
  const { folder } = await run(example);
  const weights = 'model.safetensors';
  const before = await readSafetensors(join(checkpoint, weights));
  const after = await readSafetensors(join(folder, 'my-better-checkpoint', weights));
  expect(Object.keys(after.tensors).sort()).toEqual(Object.keys(before.tensors).sort());
  for (const [name, { data }] of Object.entries(after.tensors))
    expect(data, name).not.toEqual(before.tensors[name]!.data);
});

test('the program prints the output in the README', async () => {
  const { stdout } = await run(examples[2]!);
  expect(stdout.trim()).toBe(/^This prints `(.*)`\.$/m.exec(readme)![1]);
});
