/** `npm run bench -- rollout`: samples many sequences at once at temperature 1, without an end token. */
import { type ModelConfig, placeModel, Sampler } from '@toolenv/policy';
import type { Benchmark } from './benchmark.ts';
import { decodeSteps } from './decode-steps.ts';
import { modelShape, randomModel, randomTokens } from './model.ts';
import { turnLatency } from './turn-latency.ts';

export function rollout(config: ModelConfig): Benchmark {
  const isLarge = config.hidden_size > 512;
  const lengths = isLarge
    ? { sequences: 8, prompt: 256, newTokens: 64 }
    : { sequences: 64, prompt: 32, newTokens: 128 };
  const shape = { ...lengths, ...modelShape(config) };
  return {
    shape,
    peerScript: 'rollout.py',
    async prepare(runtime) {
      const model = randomModel(config);
      await placeModel(runtime, model);
      const sampler = new Sampler(runtime, model);
      let rounds = 0;
      const sample = async () => {
        rounds += 1;
        const sequences = Array.from({ length: shape.sequences }, (_, index) =>
          sampler.sample({
            prompt: randomTokens(shape.vocabulary, shape.prompt, 'prompt', rounds, index),
            maxTokens: shape.newTokens,
            temperature: 1,
            seed: rounds * shape.sequences + index,
            stopTokens: [],
          }),
        );
        await Promise.all(sequences);
      };
      await sample();
      return {
        tokens: shape.sequences * shape.newTokens,
        round: sample,
        details: async () => ({
          step: await decodeSteps(runtime, model, { conversations: shape.sequences, prompt: shape.prompt }),
          ...(!isLarge && { latency: await turnLatency(runtime, model, shape.sequences) }),
        }),
        close: () => sampler.close(),
      };
    },
  };
}
