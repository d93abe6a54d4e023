/** `npm run bench -- train`: forward, backward, gradient clipping and AdamW on a batch of full rows, with a loss on every token. */
import type { TokenRow } from '@toolenv/core/learner';
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
      const { run, close } = await learnerSteps(runtime, config, fullRows(shape));
      return { tokens: shape.rows * shape.length * shape.steps, round: () => run(shape.steps), close };
    },
  };
}

/** Random rows with a loss on each predicted token. The first token of a row is not predicted, so a row has one token more than predictions. */
export function fullRows({
  rows,
  length,
  vocabulary,
}: Record<'rows' | 'length' | 'vocabulary', number>): TokenRow[] {
  return Array.from({ length: rows }, (_, row) => ({
    tokens: randomTokens(vocabulary, length + 1, 'row', row),
    mask: new Uint8Array(length + 1).fill(1, 1),
  }));
}
