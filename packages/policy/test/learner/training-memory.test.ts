/** Compares the estimated memory for training with measurements and with exact sums. */
import type { MemoryEstimate } from '@toolenv/core/plugins';
import { expect, test } from 'vitest';
import { sizes } from '../../../../workshop/bench/model.ts';
import { LoraAdapter } from '../../src/learner/lora.ts';
import { defaultTokenBudget, trainingMemory } from '../../src/learner/training-memory.ts';
import { parameterCount } from '../../src/model/model.ts';
import type { ModelConfig } from '../../src/model/model-config.ts';
import { randomWeights, runtime, tinyConfig } from '../tiny-model.ts';

/**
 * Kilobytes by which the peak memory of a process grew per padded token, at 192 tokens per row
 * (workshop/bench/model.ts has the models).
 */
const measured = { '1m': 62, '15m': 333, '100m': 1063 };

test.each(Object.entries(measured))(
  'the activations of %s are within an eighth of %f KB per token',
  (size, kilobytes) => {
    const { activations } = trainingMemory(sizes[size]!, { tokenBudget: 1000 });
    expect(activations / 1e6 / kilobytes).toBeGreaterThan(7 / 8);
    expect(activations / 1e6 / kilobytes).toBeLessThan(9 / 8);
  },
);

test('the default batch is 4096 tokens, unless activations exceed both 1.5 GiB and weights, gradients and moments', () => {
  for (const size of ['1m', '15m']) expect(defaultTokenBudget(sizes[size]!)).toBe(4096);
  const share = (config: ModelConfig, of: (memory: MemoryEstimate) => number) => {
    const memory = trainingMemory(config);
    return memory.activations / of(memory);
  };
  for (const found of [
    share({ ...sizes['15m']!, vocab_size: 32768 }, () => 1.5 * 2 ** 30),
    share(sizes['100m']!, ({ weights, gradients, optimizer }) => weights / 2 + gradients + optimizer),
  ]) {
    expect(found).toBeGreaterThan(0.99);
    expect(found).toBeLessThanOrEqual(1);
  }
});

test("an adapter needs its model's weights, and gradients and moments of its own parameters", () => {
  const all = trainingMemory(tinyConfig);
  const adapter = new LoraAdapter(runtime, tinyConfig, randomWeights(tinyConfig, 1), {
    rank: 2,
    targets: ['q_proj'],
  });
  const some = trainingMemory(tinyConfig, { trained: adapter.shapes });
  expect(all.weights).toBe(2 * 4 * parameterCount(tinyConfig));
  expect(some.weights).toBe(3 * 4 * parameterCount(tinyConfig));
  // A [2, 16] and B [16, 2] in each of two layers.
  expect(some.gradients).toBe(2 * 4 * 2 * (2 * 16 + 16 * 2));
  expect(some.optimizer).toBe(some.gradients);
  expect(some.total).toBe(some.weights + some.gradients + some.optimizer + some.activations);
});
