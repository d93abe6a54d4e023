/** `npm run bench -- group`: a step on a group of episodes that share a prompt, with a loss on their short answers. */
import type { TokenRow } from '@toolenv/core/learner';
import type { ModelConfig } from '@toolenv/policy';
import type { Benchmark } from './benchmark.ts';
import { learnerSteps } from './learner-steps.ts';
import { modelShape, randomTokens } from './model.ts';

export function group(config: ModelConfig, rows = 8): Benchmark {
  // Five steps of the smallest model take 0.2 s, which is too short to measure.
  const steps = config.hidden_size > 512 ? 1 : 20;
  const shape = { rows, prompt: 300, answer: 20, steps, ...modelShape(config) };
  const tokens = shape.rows * (shape.prompt + shape.answer) * shape.steps;
  return {
    shape,
    peerScript: 'group.py',
    async prepare(runtime) {
      const shared = await learnerSteps(
        runtime,
        config,
        rowsOf(shape, () => 'prompt'),
      );
      const apart = await learnerSteps(
        runtime,
        config,
        rowsOf(shape, (row) => `prompt ${row}`),
      );
      return {
        tokens,
        round: () => shared.run(shape.steps),
        // The same rows with prompts of their own share nothing.
        beside: { withoutSharing: () => apart.run(shape.steps) },
        async close() {
          await shared.close();
          await apart.close();
        },
      };
    },
  };
}

/** @param promptOf The name of the prompt of a row, which seeds its tokens. */
function rowsOf(
  { rows, prompt, answer, vocabulary }: { rows: number; prompt: number; answer: number; vocabulary: number },
  promptOf: (row: number) => string,
): TokenRow[] {
  return Array.from({ length: rows }, (_, row) => ({
    tokens: Int32Array.of(
      ...randomTokens(vocabulary, prompt, promptOf(row)),
      ...randomTokens(vocabulary, answer, 'answer', row),
    ),
    mask: new Uint8Array(prompt + answer).fill(1, prompt),
  }));
}
