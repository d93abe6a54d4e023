/** Another process takes over the tensors of an engine whose memory is worn. */
import { mkdtemp, readdir, readFile, rm, stat, utimes } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect, onTestFinished, test, vi } from 'vitest';
import { learnerOf, tinyModel } from '../../policy/test/tiny-model.ts';
import { type LibtorchRuntime, libtorchRuntime } from '../src/libtorch-runtime.ts';
import { enginesOf } from './engines.ts';
import { hasLibtorch } from './has-libtorch.ts';

const canRenew = hasLibtorch && process.platform === 'linux';

/** Any update is later. */
const worn = { threads: 1, lifetime: 0 };

const rows = [9, 17].map((length) => ({
  tokens: Int32Array.from({ length }, (_, t) => t),
  mask: new Uint8Array(length).fill(1, 1),
}));
const dLogprobs = rows.map(({ mask }) => Float32Array.from(mask, (bit) => -bit));

/** What is saved after three steps, weights and moments, and the engines that there were after each. */
async function train(runtime: LibtorchRuntime) {
  const learner = learnerOf(tinyModel(), {}, runtime);
  const engines: number[][] = [];
  for (let step = 0; step < 3; step++) {
    await learner.backward({ rows }, { dLogprobs });
    await learner.step({ learningRate: 1e-2, maxGradNorm: 1 });
    await runtime.count();
    engines.push(enginesOf());
  }
  const folder = await mkdtemp(join(tmpdir(), 'saved-'));
  await learner.save(folder);
  const files = (await readdir(folder)).sort();
  const saved = await Promise.all(
    files.map(async (name) => [name, await readFile(join(folder, name), 'hex')]),
  );
  await rm(folder, { recursive: true });
  return { learner, saved, engines };
}

async function temporaryFolder(): Promise<string> {
  const folder = await mkdtemp(join(tmpdir(), 'toolenv-renewal-'));
  onTestFinished(() => rm(folder, { recursive: true, force: true }));
  vi.stubEnv('TMPDIR', folder);
  onTestFinished(() => void vi.unstubAllEnvs());
  return folder;
}

/** What engines have left there. */
async function filesIn(folder: string): Promise<string[]> {
  return (await readdir(folder)).filter((name) => name.startsWith('toolenv'));
}

test.runIf(canRenew)('a new process for each step trains to the same bits, and leaves no file', async () => {
  const folder = await temporaryFolder();
  const [lasting, renewed] = [await libtorchRuntime({ threads: 1 }), await libtorchRuntime(worn)];
  const before = enginesOf();
  const [expected, found] = [await train(lasting), await train(renewed)];
  expect(found.saved.map(([name]) => name)).toContain('optimizer.safetensors');
  expect(found.saved).toEqual(expected.saved);
  const own = found.engines.map((engines) => engines.filter((each) => !before.includes(each)));
  expect(own.map(({ length }) => length)).toEqual([1, 1, 1]);
  expect(new Set(own.flat()).size).toBe(3);
  expect(await renewed.count()).toEqual(await lasting.count());
  expect(await filesIn(folder)).toEqual([]);
  for (const { learner } of [expected, found]) await learner.close();
  expect(await renewed.count()).toEqual({ alive: 0, kept: 0 });
  for (const runtime of [lasting, renewed]) await runtime.close();
});

/** @param prevent What happens once the engine has begun, and before it would be renewed. */
async function expectNoRenewal(prevent: () => unknown): Promise<void> {
  const runtime = await libtorchRuntime(worn);
  const before = enginesOf();
  await prevent();
  const learner = learnerOf(tinyModel(), {}, runtime);
  for (let step = 0; step < 2; step++) {
    await learner.backward({ rows }, { dLogprobs });
    await learner.step({ learningRate: 1e-2, maxGradNorm: 1 });
  }
  expect(await runtime.count()).toMatchObject({ alive: expect.any(Number) });
  expect(enginesOf()).toEqual(before);
  await learner.close();
  await runtime.close();
}

test.runIf(canRenew)('without room for the file, the worn process goes on', async () => {
  await expectNoRenewal(() => {
    vi.stubEnv('TMPDIR', '/proc');
    onTestFinished(() => void vi.unstubAllEnvs());
  });
});

test.runIf(canRenew)('once its code was replaced on disk, the worn process goes on', async () => {
  await expectNoRenewal(async () => {
    const file = join(import.meta.dirname, '../src/engine-process.ts');
    const { atime, mtime } = await stat(file);
    await utimes(file, atime, mtime);
  });
});

test.runIf(canRenew)('closing amid a renewal leaves neither a process nor a file', async () => {
  const folder = await temporaryFolder();
  const before = enginesOf();
  const runtime = await libtorchRuntime(worn);
  const learner = learnerOf(tinyModel(), {}, runtime);
  await learner.backward({ rows }, { dLogprobs });
  await learner.step({ learningRate: 1e-2, maxGradNorm: 1 });
  await runtime.close();
  expect(enginesOf()).toEqual(before);
  expect(await filesIn(folder)).toEqual([]);
  await expect(runtime.count()).rejects.toThrow('The engine is closed.');
});

test.runIf(canRenew)(
  'a new process that dies before it has the tensors ends the run with the remedy',
  async () => {
    const folder = await temporaryFolder();
    const runtime = await libtorchRuntime(worn);
    const before = enginesOf();
    const learner = learnerOf(tinyModel(), {}, runtime);
    await learner.backward({ rows }, { dLogprobs });
    await learner.step({ learningRate: 1e-2, maxGradNorm: 1 });
    const answer = runtime.count();
    const successor = () => enginesOf().find((each) => !before.includes(each));
    await vi.waitFor(() => expect(successor()).toBeDefined(), { timeout: 10_000, interval: 1 });
    process.kill(successor()!, 'SIGKILL');
    await expect(answer).rejects.toMatchObject({
      code: 'infrastructure.libtorch',
      message: expect.stringContaining('--resume'),
    });
    expect(await filesIn(folder)).toEqual([]);
    await runtime.close();
  },
);
