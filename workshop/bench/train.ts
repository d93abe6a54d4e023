/** `npm run bench -- train`: forward, backward, gradient clipping and AdamW on a batch of full rows, with a loss on every token. */
import { type ModelConfig, placeModel, TransformerLearner } from '@toolenv/policy';
import type { Benchmark } from './benchmark.ts';
import { modelShape, randomModel, randomTokens, unsavedCheckpoint } from './model.ts';

export function train(config: ModelConfig): Benchmark {
  // A step of the largest model takes many seconds.
  const steps = config.hidden_size > 512 ? 1 : 5;
  const shape = { rows: 16, length: 192, steps, ...modelShape(config) };
  return {
    shape,
    peerScript: 'train.py',
    async prepare(runtime) {
      const model = randomModel(config);
      await placeModel(runtime, model);
      const learner = new TransformerLearner(runtime, model, unsavedCheckpoint(model));
      // The first token of a row is not predicted, so a row has one token more than predictions.
      const rows = Array.from({ length: shape.rows }, (_, row) => ({
        tokens: randomTokens(shape.vocabulary, shape.length + 1, 'row', row),
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
}
