/** Rollout: sampling at temperature 1 for many sequences at once, no end token. */
import { onnxRuntime, Sampler } from '@toolenv/policy';
import type { Benchmark } from './benchmark.ts';
import { config, randomModel, randomTokens } from './model.ts';

const shape = {
  sequences: 64,
  prompt: 32,
  newTokens: 128,
  vocabulary: config.vocab_size,
  width: config.hidden_size,
  inner: config.intermediate_size,
  layers: config.num_hidden_layers,
  heads: config.num_attention_heads,
  keyValueHeads: config.num_key_value_heads,
};

export const rollout: Benchmark = {
  shape,
  peerScript: 'rollout.py',
  async prepare(threads) {
    const sampler = new Sampler(onnxRuntime({ threads }), randomModel());
    let rounds = 0;
    const sample = async (maxTokens: number) => {
      rounds += 1;
      const sequences = Array.from({ length: shape.sequences }, (_, index) =>
        sampler.sample({
          prompt: randomTokens(shape.prompt, 'prompt', rounds, index),
          maxTokens,
          temperature: 1,
          seed: rounds * shape.sequences + index,
          stopTokens: [],
        }),
      );
      await Promise.all(sequences);
    };
    await sample(shape.newTokens);
    return {
      tokens: shape.sequences * shape.newTokens,
      round: () => sample(shape.newTokens),
      close: () => sampler.close(),
    };
  },
};
