/** LearnerSteps: optimizer steps of a random model on the same rows, which several benchmarks time. */
import type { TokenRow } from '@toolenv/core/learner';
import {
  type LearnerOptions,
  type Model,
  type ModelConfig,
  placeModel,
  type Runtime,
  TransformerLearner,
} from '@toolenv/policy';
import { randomModel, unsavedCheckpoint } from './model.ts';

export interface LearnerSteps {
  run(steps: number): Promise<void>;
  close(): Promise<void>;
}

/** Prepares the steps, and runs two to warm up. The loss is the mean log-probability of the action tokens. */
export async function learnerSteps(
  runtime: Runtime,
  config: ModelConfig,
  rows: TokenRow[],
  options?: LearnerOptions,
  model: Model = randomModel(config),
): Promise<LearnerSteps> {
  await placeModel(runtime, model);
  const learner = new TransformerLearner(runtime, model, unsavedCheckpoint(model), options);
  const tokens = rows.reduce((sum, { mask }) => sum + mask.reduce((count, bit) => count + bit, 0), 0);
  const dLogprobs = rows.map(({ mask }) => Float32Array.from(mask, (bit) => -bit / tokens));
  const run = async (steps: number) => {
    for (let done = 0; done < steps; done++) {
      await learner.backward({ rows }, { dLogprobs });
      await learner.step({ learningRate: 1e-4, weightDecay: 0.01, maxGradNorm: 1 });
    }
  };
  await run(2);
  return { run, close: () => learner.close() };
}
