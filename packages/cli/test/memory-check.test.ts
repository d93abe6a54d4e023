/** The memory of a run is said before it, and one that does not fit is refused with what to do. */
import { expect, test } from 'vitest';
import { checkMemory } from '../src/memory-check.ts';

const memory = {
  weights: 3e8,
  gradients: 2e8,
  optimizer: 2e8,
  activations: 5.2e8,
  total: 1.22e9,
  cachePerToken: 2048,
};

test('what fits is described', () => {
  expect(checkMemory(memory, 8e9)).toBe(
    'Training holds about 1.2 GB (weights 0.3, gradients 0.2, optimizer 0.2, activations 0.5), and 2.0 KB for each token of an episode; 8.0 GB are free.',
  );
});

test('what does not fit is refused', () => {
  expect(() => checkMemory(memory, 1.2e9)).toThrow(
    expect.objectContaining({
      code: 'usage.memory',
      message: expect.stringMatching(/about 1\.2 GB .* of which 1\.2 GB are free: .*--lora-rank/),
    }),
  );
});
