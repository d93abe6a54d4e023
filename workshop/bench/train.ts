/** `npm run bench -- train`: forward, backward, gradient clipping and AdamW on a batch of full rows, with a loss on every token. */
import type { ModelConfig } from '@toolenv/policy';
import type { Benchmark } from './benchmark.ts';
import { learnerSteps } from './learner-steps.ts';
import { modelShape, randomTokens } from './model.ts';

export function train(
  config: ModelConfig,
  batch: { rows?: number; length?: number; steps?: number } = {},
): Benchmark {
  // A step of the largest model takes many seconds.
  const steps = config.hidden_size > 512 ? 1 : 5;
  const shape = { rows: 16, length: 192, steps, ...batch, ...modelShape(config) };
  return {
    shape,
    peerScript: 'train.py',
    async prepare(runtime) {
      // The first token of a row is not predicted, so a row has one token more than predictions.
      const rows = Array.from({ length: shape.rows }, (_, row) => ({
        tokens: randomTokens(shape.vocabulary, shape.length + 1, 'row', row),
        mask: new Uint8Array(shape.length + 1).fill(1, 1),
      }));
      const { run, close } = await learnerSteps(runtime, config, rows);
      return { tokens: shape.rows * shape.length * shape.steps, round: () => run(shape.steps), close };
    },
  };
}
