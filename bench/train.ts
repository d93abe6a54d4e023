/** Training: forward, backward, gradient clipping and AdamW on a batch of full rows, with a loss on every token. */
import { onnxRuntime, TransformerLearner } from '@toolenv/policy';
import type { Benchmark } from './benchmark.ts';
import { config, randomModel, randomTokens, unsavedCheckpoint } from './model.ts';

const shape = {
  rows: 16,
  length: 192,
  steps: 5,
  vocabulary: config.vocab_size,
  width: config.hidden_size,
  inner: config.intermediate_size,
  layers: config.num_hidden_layers,
  heads: config.num_attention_heads,
  keyValueHeads: config.num_key_value_heads,
};

export const train: Benchmark = {
  shape,
  peerScript: 'train.py',
  async prepare(threads) {
    const model = randomModel();
    const learner = new TransformerLearner(onnxRuntime({ threads }), model, unsavedCheckpoint(model));
    // The first token of a row is only read: with one more, `length` positions are computed and as many predicted.
    const rows = Array.from({ length: shape.rows }, (_, row) => ({
      tokens: randomTokens(shape.length + 1, 'row', row),
      mask: new Uint8Array(shape.length + 1).fill(1, 1),
    }));
    const tokens = shape.rows * shape.length;
    const dLogprobs = rows.map(({ mask }) => Float32Array.from(mask, (bit) => -bit / tokens));
    const step = async () => {
      await learner.backward({ rows }, { dLogprobs });
      await learner.step({ learningRate: 1e-4, weightDecay: 0.01, maxGradNorm: 1 });
    };
    await step();
    await step();
    return {
      tokens: tokens * shape.steps,
      async round() {
        for (let done = 0; done < shape.steps; done++) await step();
      },
      close: () => learner.close(),
    };
  },
};
