/** What `--precision auto` takes on this machine. */
import { expect, test } from 'vitest';
import { choosePrecision, libtorchEngines } from '../src/libtorch-engines.ts';
import { fasterPrecision } from '../src/product-times.ts';
import { hasLibtorch } from './has-libtorch.ts';

test.runIf(hasLibtorch)('the times of products decide', async () => {
  const { precision, why } = await choosePrecision();
  const [, bfloat16, float32] = /^a matrix product takes (.+) ms in bfloat16 and (.+) ms in float32$/.exec(
    why,
  )!;
  expect(Number(bfloat16)).toBeGreaterThan(0);
  // The numbers of the text are rounded.
  const ratio = Number(float32) / Number(bfloat16);
  if (Math.abs(ratio - 1.5) > 0.2)
    expect(precision).toBe(fasterPrecision({ float32: Number(float32), bfloat16: Number(bfloat16) }));
});

test.runIf(hasLibtorch)('the engine of the CPU is available', async () => {
  const [cpu] = await libtorchEngines();
  expect(cpu).toMatchObject({
    engine: 'libtorch cpu',
    available: true,
    about: expect.stringMatching(/^PyTorch \d+\.\d+.* of .+: a matrix product takes /),
  });
});
