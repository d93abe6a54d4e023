/** An engine that does not answer: a signal ends it unless it computes, and it never outlives the process that started it. */
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { join } from 'node:path';
import { tensor } from '@toolenv/policy';
import { expect, onTestFinished, test, vi } from 'vitest';
import { readTypeScript } from '../../../workshop/read-typescript.ts';
import { libtorchRuntime } from '../src/libtorch-runtime.ts';
import { enginesOf, lives } from './engines.ts';
import { hasLibtorch } from './has-libtorch.ts';

const reason = new Error('stop');

async function started() {
  const before = enginesOf();
  const controller = new AbortController();
  const runtime = await libtorchRuntime({ threads: 1, signal: controller.signal });
  onTestFinished(() => runtime.close());
  const [engine] = enginesOf().filter((pid) => !before.includes(pid));
  return { runtime, engine: engine!, abort: () => controller.abort(reason) };
}

test.runIf(hasLibtorch)(
  'a stopped engine is killed after the signal, and its calls reject with the reason',
  async () => {
    const warn = vi.spyOn(process, 'emitWarning').mockImplementation(() => {});
    const { runtime, engine, abort } = await started();
    process.kill(engine, 'SIGSTOP');
    const call = runtime.count();
    const begun = performance.now();
    abort();
    await expect(call).rejects.toBe(reason);
    expect(performance.now() - begun).toBeLessThan(15_000);
    expect(lives(engine)).toBe(false);
    await expect(runtime.count()).rejects.toBe(reason);
    expect(warn).toHaveBeenCalledExactlyOnceWith(
      expect.stringMatching(/has used no CPU time for 5 s/),
      'HungEngine',
    );
  },
);

test.runIf(hasLibtorch)('a step that computes goes on after the signal, however long', async () => {
  const { runtime, engine, abort } = await started();
  const program = await runtime.compile((ops) => {
    let x = ops.input('x', 'float32', ['N', 'N']);
    for (let product = 0; product < 12; product++) x = ops.matmul(x, x);
    return { y: ops.sumAll(x) };
  });
  const size = 3000;
  const begun = performance.now();
  const running = program.run({ x: tensor(new Float32Array(size * size), [size, size]) });
  abort();
  expect((await running).y!.data).toEqual(new Float32Array(1));
  // Longer than an engine may be idle.
  expect(performance.now() - begun).toBeGreaterThan(5_000);
  expect(lives(engine)).toBe(true);
});

test.runIf(hasLibtorch)(
  'an idle engine is left alone after the signal, and a stopped one is closed',
  async () => {
    const { runtime, engine, abort } = await started();
    abort();
    await new Promise((resolve) => setTimeout(resolve, 7_000));
    expect(await runtime.count()).toEqual({ alive: 0, kept: 0 });
    process.kill(engine, 'SIGSTOP');
    await runtime.close();
    expect(lives(engine)).toBe(false);
  },
);

test.runIf(hasLibtorch).each([
  ['waits', []],
  ['computes', []],
  ['waits', ['SIGSTOP of the engine']],
  ['computes', ['SIGSTOP of the engine']],
  ['waits', ['SIGSTOP of the parent']],
  ['computes', ['SIGSTOP of the parent', 'SIGSTOP of the engine']],
])('an engine that %s ends when its parent is killed, after %j', async (work, signals) => {
  const script = join(import.meta.dirname, 'engine-parent.ts');
  const words = [...readTypeScript, '--conditions=@toolenv/source', script, work];
  const parent = spawn(process.execPath, words, { stdio: ['ignore', 'pipe', 'inherit'] });
  onTestFinished(() => void parent.kill('SIGKILL'));
  await once(parent.stdout!, 'data');
  const [engine] = enginesOf(parent.pid);
  expect(lives(engine!)).toBe(true);
  if (signals.includes('SIGSTOP of the parent')) parent.kill('SIGSTOP');
  if (signals.includes('SIGSTOP of the engine')) process.kill(engine!, 'SIGSTOP');
  parent.kill('SIGKILL');
  await expect.poll(() => lives(engine!), { timeout: 5_000 }).toBe(false);
});
