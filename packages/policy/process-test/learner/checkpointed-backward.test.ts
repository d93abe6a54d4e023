/** Gradient checkpointing gives the same gradients as the whole backward pass. */
import { createRng } from '@toolenv/core';
import type { TokenGradients } from '@toolenv/core/learner';
import { expect, test } from 'vitest';
import { createModel } from '../../src/model/model.ts';
import type { ModelConfig } from '../../src/model/model-config.ts';
import { learnerOf, randomWeights, takeGradients, tinyConfig } from '../../test/tiny-model.ts';

const rng = createRng(1, 'rows');
const rows = [9, 14, 6].map((length) => ({
  tokens: Int32Array.from({ length }, () => rng.int(tinyConfig.vocab_size)),
  mask: Uint8Array.from({ length }, (_, t) => Number(t > 1)),
}));
const slopes = () => rows.map(({ mask }) => Float32Array.from(mask, (bit) => bit * (rng.float() - 0.5)));
const gradients = { dLogprobs: slopes(), dEntropy: slopes(), dValues: slopes() };

type Case = [name: string, config: Partial<ModelConfig>, given: (keyof TokenGradients)[], options?: object];
const cases: Case[] = [
  ['tied embeddings', {}, ['dLogprobs']],
  ['an untied head', { tie_word_embeddings: false }, ['dLogprobs', 'dEntropy']],
  ['Qwen3', { model_type: 'qwen3', head_dim: 6, num_hidden_layers: 3 }, ['dLogprobs']],
  ['an adapter', {}, ['dLogprobs'], { lora: { rank: 3 } }],
  ['a shared critic', {}, ['dLogprobs', 'dValues'], { critic: 'shared' }],
  ['a separate critic', {}, ['dLogprobs', 'dValues'], { critic: 'separate' }],
];

test.each(cases)(
  '%s',
  async (_, change, given, { critic, ...options }: { critic?: 'shared' | 'separate' } = {}) => {
    const config = { ...tinyConfig, ...change };
    const chosen = Object.fromEntries(
      given.map((name) => [name, gradients[name]]),
    ) as unknown as TokenGradients;
    const compute = async (gradientCheckpointing: boolean) => {
      const model = createModel(config, randomWeights(config, 2));
      const learner = learnerOf(model, { ...options, gradientCheckpointing });
      if (critic) await learner.addCritic({ critic });
      const batch = { rows, temperature: 0.7 };
      // The first step makes the adapter's B and the critic's head nonzero, so that gradients pass through them.
      await learner.backward(batch, chosen);
      await learner.step({ learningRate: 0.02 });
      await learner.backward(batch, chosen);
      const found = await takeGradients(learner);
      const { criticGradNorm } = await learner
        .backward(batch, chosen)
        .then(() => learner.step({ learningRate: 0 }));
      await learner.close();
      return { found, criticGradNorm };
    };
    const [whole, checkpointed] = [await compute(false), await compute(true)];
    expect(Object.keys(checkpointed.found)).toEqual(Object.keys(whole.found));
    for (const [name, { data }] of Object.entries(whole.found)) {
      let [largest, difference] = [0, 0];
      for (let i = 0; i < data.length; i++) {
        largest = Math.max(largest, Math.abs(data[i]!));
        difference = Math.max(difference, Math.abs(data[i]! - checkpointed.found[name]!.data[i]!));
      }
      expect(largest, name).toBeGreaterThan(0);
      expect(difference / largest, name).toBeLessThan(1e-4);
    }
    if (critic) expect(checkpointed.criticGradNorm! / whole.criticGradNorm!).toBeCloseTo(1, 4);
  },
);
