/**
 * `npm run bench -- rollout`: samples many sequences at once at temperature 1, without an end token. `npm run bench -- first`: prompts and
 * their first tokens, by a new sampler each time, as after an update.
 */
import { type Model, type ModelConfig, placeModel, type Runtime, Sampler } from '@toolenv/policy';
import type { Benchmark } from './benchmark.ts';
import { median } from './median.ts';
import { modelShape, randomModel, randomTokens } from './model.ts';
import { turnLatency } from './turn-latency.ts';

const precisions = ['float32', 'int8'] as const;
const rounds = 5;
const newTokens = 24;
/** The first steps compile, or build the weights in. */
const warmUp = 4;

/** Median milliseconds of a step of `conversations` side by side, after prompts of `prompt` tokens. The precisions take turns. */
async function decodeSteps(
  runtime: Runtime,
  model: Model,
  { conversations, prompt }: { conversations: number; prompt: number },
): Promise<Record<string, number>> {
  const measured = precisions.filter((precision) => precision === 'float32' || runtime.hasInt8);
  const steps = measured.map((precision) => ({ precision, times: [] as number[] }));
  for (let round = 0; round < rounds; round++) {
    for (const { precision, times: ofPrecision } of steps) {
      const sampler = new Sampler(runtime, model, { precision });
      const times: number[] = [];
      const sequences = Array.from({ length: conversations }, (_, index) =>
        sampler.sample({
          prompt: randomTokens(model.config.vocab_size, prompt, 'decode', round, index),
          maxTokens: newTokens,
          temperature: 1,
          seed: index,
          stopTokens: [],
          // Times the tokens of the first conversation.
          ...(index === 0 && {
            stopsAt() {
              times.push(performance.now());
              return false;
            },
          }),
        }),
      );
      await Promise.all(sequences);
      await sampler.close();
      const each = times.slice(1).map((time, index) => time - times[index]!);
      ofPrecision.push(median(each.slice(warmUp)));
    }
  }
  return Object.fromEntries(
    steps.map(({ precision, times }) => [precision, Number(median(times).toFixed(2))]),
  );
}

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
      const sample = () => sampleAll(sampler, shape, rounds++);
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

export function first(config: ModelConfig): Benchmark {
  const shape = { sequences: 8, prompt: 64, newTokens: 1, ...modelShape(config) };
  return {
    shape,
    peerScript: 'rollout.py',
    async prepare(runtime) {
      const model = randomModel(config);
      await placeModel(runtime, model);
      let rounds = 0;
      const round = async () => {
        const sampler = new Sampler(runtime, model);
        await sampleAll(sampler, shape, rounds++);
        await sampler.close();
      };
      await round();
      return { tokens: shape.sequences * shape.prompt, round, async close() {} };
    },
  };
}

interface Lengths {
  sequences: number;
  prompt: number;
  newTokens: number;
  vocabulary: number;
}

async function sampleAll(
  sampler: Sampler,
  { sequences, prompt, newTokens, vocabulary }: Lengths,
  round: number,
): Promise<void> {
  const samples = Array.from({ length: sequences }, (_, index) =>
    sampler.sample({
      prompt: randomTokens(vocabulary, prompt, 'prompt', round, index),
      maxTokens: newTokens,
      temperature: 1,
      seed: round * sequences + index,
      stopTokens: [],
    }),
  );
  await Promise.all(samples);
}
