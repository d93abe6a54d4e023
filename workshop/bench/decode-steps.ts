/** decodeSteps: the time of a step that samples one token of each conversation, with weights of either precision. */
import { type Model, type Runtime, Sampler } from '@toolenv/policy';
import { median } from './median.ts';
import { randomTokens } from './model.ts';

const precisions = ['float32', 'int8'] as const;
const rounds = 5;
const newTokens = 24;
/** The first steps compile, or build the weights in. */
const warmUp = 4;

/** Median milliseconds of a step of `conversations` side by side, after prompts of `prompt` tokens. The precisions take turns. */
export async function decodeSteps(
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
