/** The process of the engine: how it ends, and what is said when it ends by itself. */
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { tensor } from '@toolenv/policy';
import { expect, onTestFinished, test, vi } from 'vitest';
import { findLibtorch } from '../src/find-libtorch.ts';
import { libtorchRuntime } from '../src/libtorch-runtime.ts';
import { enginesOf, listeningSockets, residentMemory } from './engines.ts';
import { hasLibtorch } from './has-libtorch.ts';

test.runIf(hasLibtorch)(
  'a killed engine ends the run with the remedy, and so does every later call',
  async () => {
    const before = enginesOf();
    const runtime = await libtorchRuntime();
    const program = await runtime.compile((ops) => {
      const x = ops.input('x', 'float32', ['N', 'N']);
      return { y: ops.matmul(x, x) };
    });
    const size = 4000;
    const running = program.run({ x: tensor(new Float32Array(size * size), [size, size]) });
    const [engine] = enginesOf().filter((each) => !before.includes(each));
    process.kill(engine!, 'SIGKILL');
    const expected = { code: 'infrastructure.libtorch', message: expect.stringContaining('lack of memory') };
    await expect(running).rejects.toMatchObject(expected);
    await expect(runtime.count()).rejects.toMatchObject(expected);
    await runtime.close();
  },
);

test.runIf(hasLibtorch)('the engine survives Ctrl-C, and ends when it is closed', async () => {
  const before = enginesOf();
  const runtime = await libtorchRuntime();
  const [engine] = enginesOf().filter((each) => !before.includes(each));
  for (const signal of ['SIGINT', 'SIGTERM', 'SIGHUP'] as const) process.kill(engine!, signal);
  expect(await runtime.count()).toEqual({ alive: 0, kept: 0 });
  await runtime.close();
  expect(() => process.kill(engine!, 0)).toThrow('ESRCH');
});

test.runIf(hasLibtorch && process.platform === 'linux')(
  'the engine keeps the memory of freed tensors for the next, and gives it back when it rests',
  async () => {
    const runtime = await libtorchRuntime({ rest: 500 });
    const [engine] = enginesOf();
    const program = await runtime.compile((ops) => {
      const x = ops.input('x', 'float32', ['N', 'N']);
      return { y: ops.sumAll(ops.exp(ops.add(x, x))) };
    });
    const size = 5000;
    const bytes = 4 * size * size;
    const x = tensor(new Float32Array(size * size), [size, size]);
    await program.run({ x });
    const working = residentMemory(engine!);
    await vi.waitFor(() => expect(residentMemory(engine!)).toBeLessThan(working - bytes), 10_000);
    const { y } = await program.run({ x });
    expect(y!.data[0]).toBe(size * size);
    await runtime.close();
  },
);

test.runIf(hasLibtorch)('an error of libtorch names the operation, and the engine goes on', async () => {
  const runtime = await libtorchRuntime();
  const program = await runtime.compile((ops) => ({
    y: ops.matmul(ops.input('a', 'float32', ['A', 'B']), ops.input('b', 'float32', ['C', 'D'])),
  }));
  const [a, b] = [tensor(new Float32Array(6), [2, 3]), tensor(new Float32Array(20), [4, 5])];
  await expect(program.run({ a, b })).rejects.toThrow(
    /aten::mm: .*mat1 and mat2 shapes cannot be multiplied/,
  );
  await expect(program.run({ a })).rejects.toThrow('Input "b" is missing.');
  expect(await runtime.count()).toEqual({ alive: 0, kept: 0 });
  await runtime.close();
});

test('a folder without a library that can be used is named, with the remedy', async () => {
  const folder = await mkdtemp(join(tmpdir(), 'toolenv-libtorch-'));
  onTestFinished(() => rm(folder, { recursive: true }));
  await writeFile(join(folder, 'libtorch_cpu.so'), 'not a library');
  await expect(libtorchRuntime({ folder })).rejects.toMatchObject({
    code: 'usage.libtorch',
    message: expect.stringMatching(/libtorch_cpu\.\w+ cannot be used .*: install PyTorch 2\.10 or later/),
  });
});

test('without PyTorch, the places that were looked at are named', () => {
  vi.stubEnv('TOOLENV_LIBTORCH', '');
  vi.stubEnv('TOOLENV_PYTHON', '/nowhere/python');
  vi.stubEnv('VIRTUAL_ENV', '');
  vi.stubEnv('PATH', '/nowhere');
  expect(() => findLibtorch()).toThrow(
    /^No PyTorch was found \(looked in \/nowhere\/python, .*pip install torch/,
  );
});

test.runIf(hasLibtorch)('a tensor of another engine, and one that is disposed, are refused', async () => {
  const [one, other] = [await libtorchRuntime(), await libtorchRuntime()];
  const numbers = (first: number) => tensor(Float32Array.of(first, 2), [2]);
  // Both have the same number.
  const [ofOne, ofOther] = [await one.memory!.copy(numbers(1)), await other.memory!.copy(numbers(3))];
  await expect(other.memory!.read(ofOne)).rejects.toThrow("The tensor is not in this runtime's memory.");
  expect((await one.memory!.read(ofOne)).data).toEqual(numbers(1).data);
  expect((await other.memory!.read(ofOther)).data).toEqual(numbers(3).data);
  ofOne.dispose!();
  // Disposals are sent together, after what is sent now.
  await one.count();
  await expect(one.memory!.read(ofOne)).rejects.toThrow('The tensor is disposed.');
  await Promise.all([one.close(), other.close()]);
});

test.runIf(hasLibtorch)('the engine listens to no other process', async () => {
  const runtime = await libtorchRuntime();
  const [engine] = enginesOf();
  expect(listeningSockets(engine!)).toEqual([]);
  await runtime.close();
});
