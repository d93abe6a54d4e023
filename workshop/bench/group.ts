/** `npm run bench -- group`: a step on a group of episodes that share a prompt, with a loss on their short answers. */
import { type ModelConfig, placeModel, type Runtime, TransformerLearner } from '@toolenv/policy';
import type { Benchmark } from './benchmark.ts';
import { median } from './median.ts';
import { modelShape, randomModel, randomTokens, unsavedCheckpoint } from './model.ts';

export function group(config: ModelConfig): Benchmark {
  const steps = config.hidden_size > 512 ? 1 : 5;
  const shape = { rows: 8, prompt: 300, answer: 20, steps, ...modelShape(config) };
  const tokens = shape.rows * (shape.prompt + shape.answer) * shape.steps;
  return {
    shape,
    peerScript: 'group.py',
    async prepare(runtime) {
      const shared = await stepper(runtime, config, shape, () => 'prompt');
      const apart = await stepper(runtime, config, shape, (row) => `prompt ${row}`);
      const rates: number[] = [];
      return {
        tokens,
        async round() {
          for (let done = 0; done < shape.steps; done++) await shared.step();
        },
        /** The same rows with prompts of their own share nothing. */
        async details() {
          for (let round = 0; round < 5; round++) {
            const start = performance.now();
            for (let done = 0; done < shape.steps; done++) await apart.step();
            rates.push(tokens / ((performance.now() - start) / 1000));
          }
          return { withoutSharing: Math.round(median(rates)) };
        },
        async close() {
          await shared.close();
          await apart.close();
        },
      };
    },
  };
}

/** @param promptOf The name of the prompt of a row, which seeds its tokens. */
async function stepper(
  runtime: Runtime,
  config: ModelConfig,
  { rows: count, prompt, answer }: { rows: number; prompt: number; answer: number },
  promptOf: (row: number) => string,
) {
  const model = randomModel(config);
  await placeModel(runtime, model);
  const learner = new TransformerLearner(runtime, model, unsavedCheckpoint(model));
  const rows = Array.from({ length: count }, (_, row) => ({
    tokens: Int32Array.of(
      ...randomTokens(config.vocab_size, prompt, promptOf(row)),
      ...randomTokens(config.vocab_size, answer, 'answer', row),
    ),
    mask: new Uint8Array(prompt + answer).fill(1, prompt),
  }));
  const dLogprobs = rows.map(({ mask }) => Float32Array.from(mask, (bit) => -bit / (count * answer)));
  const step = async () => {
    await learner.backward({ rows }, { dLogprobs });
    await learner.step({ learningRate: 1e-4, weightDecay: 0.01, maxGradNorm: 1 });
  };
  await step();
  await step();
  return { step, close: () => learner.close() };
}
