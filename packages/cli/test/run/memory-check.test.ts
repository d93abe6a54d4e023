/** A run's memory is estimated before it begins; a run that does not fit is refused with a remedy. */
import { expect, test } from 'vitest';
import { checkMemory } from '../../src/run/memory-check.ts';

const memory = {
  weights: 3e8,
  gradients: 2e8,
  optimizer: 2e8,
  activations: 5.2e8,
  total: 1.22e9,
  cachePerToken: 2048,
  savers: { loraRank: 16, gradientCheckpointing: true },
};

test('a run that fits is described, and doubted if other programs use the memory', () => {
  const estimate =
    'Training holds about 1.2 GB (weights 0.3, gradients 0.2, optimizer 0.2, activations 0.5), and 2.0 KB for each token of an episode';
  expect(checkMemory(memory, { total: 16e9, available: 8e9 })).toBe(`${estimate}; 8.0 GB are free.`);
  expect(checkMemory(memory, { total: 16e9, available: 1e9 })).toBe(
    `${estimate}; 1.0 GB are free, which may not be enough.`,
  );
});

test('a run that needs more than the machine has is refused', () => {
  expect(() => checkMemory(memory, { total: 1.2e9, available: 1e9 })).toThrow(
    expect.objectContaining({
      code: 'usage.memory',
      message: expect.stringMatching(
        /about 1\.2 GB .* this machine has 1\.2 GB: try --lora-rank 16, --gradient-checkpointing, a smaller model\.$/,
      ),
    }),
  );
});
