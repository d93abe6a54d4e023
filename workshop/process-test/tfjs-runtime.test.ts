/** The commands compute the same on TensorFlow.js as on ONNX Runtime. */
import { mkdir, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { readCheckpoint } from '@toolenv/policy';
import { expect, onTestFinished, test } from 'vitest';
import { startCli } from '../../packages/cli/test/start-cli.ts';
import { newFolder } from '../test/new-folder.ts';

const root = join(import.meta.dirname, '../..');
const base = join(root, 'packages/checkpoints/tiny');
const task = ['@toolenv/envs-qa/bridge-v1', '--policy', base, '--env-option', 'topK=2'];

test('eval scores the same', async () => {
  const score = async (runtime: string) => {
    const { stdout } = await startCli(['eval', ...task, '--count', '8', '--json', '--runtime', runtime], root)
      .finished;
    const { means, reward, outcomes, turns, toolCalls, tokens } = JSON.parse(stdout);
    return { means, reward, outcomes, turns, toolCalls, tokens };
  };
  const [onnx, tfjs] = await Promise.all([score('onnx'), score('tfjs')]);
  expect(tfjs).toEqual(onnx);
  expect(onnx.tokens).toBeGreaterThan(100);
});

test('train moves the weights', async () => {
  const folder = await newFolder();
  const out = join(folder, 'run');
  const size = ['--tasks-per-step', '1', '--group-size', '6', '--max-tokens', '24', '--steps', '1'];
  const flags = ['--out', out, '--temperature', '1.2', '--runtime', 'tfjs'];
  expect(await startCli(['train', ...task, ...size, ...flags], root).finished).toMatchObject({ code: 0 });
  const [before, after] = [await readCheckpoint(base), await readCheckpoint(join(out, 'policy'))];
  for (const [name, { data }] of Object.entries(after.weights))
    expect(data, name).not.toEqual(before.weights[name]!.data);
});

test('a package that does not load is reported in one line, and no slower package takes its place', async () => {
  const folder = await newFolder();
  const before = process.env.NODE_PATH;
  onTestFinished(() => {
    if (before === undefined) delete process.env.NODE_PATH;
    else process.env.NODE_PATH = before;
  });
  const broken = join(folder, '@tensorflow', 'tfjs-node-gpu');
  await mkdir(broken, { recursive: true });
  await writeFile(
    join(broken, 'index.js'),
    'throw new Error("libcudart.so.11.0: cannot open shared object file")',
  );
  process.env.NODE_PATH = folder;
  const { code, stderr } = await startCli(['eval', ...task, '--count', '1', '--runtime', 'tfjs'], root)
    .finished;
  expect([code, stderr]).toEqual([
    2,
    'toolenv: @tensorflow/tfjs-node-gpu is installed but does not load (libcudart.so.11.0: cannot open shared object file): install it again, or uninstall it.\n',
  ]);
});
