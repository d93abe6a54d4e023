/** Compares the estimated memory for training with measurements and with exact sums. */
import type { MemoryEstimate } from '@toolenv/core/plugins';
import { expect, test } from 'vitest';
import { sizes } from '../../../../workshop/bench/model.ts';
import { memoryBefore } from '../../src/learner/learner-options.ts';
import { adapterShapes, LoraAdapter } from '../../src/learner/lora.ts';
import { defaultTokenBudget, trainingMemory } from '../../src/learner/training-memory.ts';
import { parameterCount } from '../../src/model/model.ts';
import type { ModelConfig } from '../../src/model/model-config.ts';
import { randomWeights, runtime, tinyConfig } from '../tiny-model.ts';

/**
 * Peak memory of an optimizer step in MiB, measured by `npm run bench -- memory`: [rows, length, checkpointing, adapter of rank 16, peak].
 */
const measured: Record<string, [number, number, boolean, boolean, number][]> = {
  '1m': [
    [21, 192, false, false, 325],
    [2, 2048, false, false, 550],
    [21, 192, true, false, 212],
    [2, 2048, true, false, 375],
  ],
  '15m': [
    [21, 192, false, false, 1650],
    [2, 2048, false, false, 1985],
    [21, 192, false, true, 1394],
    [2, 2048, false, true, 1688],
  ],
  '100m': [[5, 192, false, false, 3520]],
};

test.each(Object.entries(measured))(
  'the estimates for %s are within a fifth of the measured peaks',
  (size, cases) => {
    const config = { ...sizes[size]!, max_position_embeddings: 2048 };
    const { shapes } = new LoraAdapter(runtime, config, {}, { rank: 16 });
    for (const [rows, rowLength, gradientCheckpointing, adapter, peak] of cases) {
      const batch = { tokenBudget: rows * rowLength, rowLength, gradientCheckpointing };
      const { total } = trainingMemory(config, { ...batch, ...(adapter && { trained: shapes }) });
      expect(total / 2 ** 20 / peak, `${rows} × ${rowLength}`).toBeGreaterThan(0.8);
      expect(total / 2 ** 20 / peak, `${rows} × ${rowLength}`).toBeLessThan(1.2);
    }
  },
);

test('twice the length takes at most 2.5 times the activations', () => {
  for (const size of ['1m', '15m', '100m', '500m']) {
    const config = { ...sizes[size]!, max_position_embeddings: 4096 };
    const of = (tokens: number) =>
      trainingMemory(config, { tokenBudget: tokens, rowLength: tokens }).activations;
    expect(of(4096) / of(2048)).toBeLessThan(2.5);
  }
});

test('the default batch is 4096 tokens, unless activations exceed both 1.5 GiB and weights, gradients and moments', () => {
  for (const size of ['1m', '15m']) expect(defaultTokenBudget(sizes[size]!)).toBe(4096);
  const share = (config: ModelConfig, of: (memory: MemoryEstimate) => number) => {
    const memory = trainingMemory(config);
    return memory.activations / of(memory);
  };
  for (const found of [
    share({ ...sizes['15m']!, num_hidden_layers: 12 }, () => 1.5 * 2 ** 30),
    share(sizes['100m']!, ({ weights, gradients, optimizer }) => weights / 2 + gradients + optimizer),
  ]) {
    expect(found).toBeGreaterThan(0.99);
    expect(found).toBeLessThanOrEqual(1);
  }
});

test('batches of an adapter are smaller, because they have no gradients of all weights', () => {
  const config = sizes['500m']!;
  const adapter = adapterShapes(config, { rank: 16 }).shapes;
  const { activations, weights } = trainingMemory(config, { trained: adapter });
  expect(activations).toBeLessThan(weights);
  expect(activations).toBeLessThan(trainingMemory(config).activations / 3);
  expect(memoryBefore(config, { lora: { rank: 16 } }).activations).toBe(activations);
});

test("an adapter needs its model's weights, and gradients and moments of its own parameters", () => {
  const all = trainingMemory(tinyConfig);
  const adapter = new LoraAdapter(runtime, tinyConfig, randomWeights(tinyConfig, 1), {
    rank: 2,
    targets: ['q_proj'],
  });
  const some = trainingMemory(tinyConfig, { trained: adapter.shapes });
  expect(all.weights).toBe(2 * 4 * parameterCount(tinyConfig));
  // The layers exist with and without the adapter.
  const { vocab_size: vocabulary, hidden_size: width } = tinyConfig;
  expect(some.weights).toBe(4 * (2 * parameterCount(tinyConfig) - vocabulary * width - width));
  // A [2, 16] and B [16, 2] in each of two layers.
  expect(some.gradients).toBe(2 * 4 * 2 * (2 * 16 + 16 * 2));
  expect(some.optimizer).toBe(some.gradients);
  expect(some.total).toBe(some.weights + some.gradients + some.optimizer + some.activations);
});
