/** turnLatency: the time of a token in growing conversations, whose turns continue from the cache of the turn before. */
import { type Model, type Runtime, Sampler } from '@toolenv/policy';
import { median } from './median.ts';
import { randomTokens } from './model.ts';

const turns = 5;
const repetitions = 5;
/** Tokens of the first prompt, of the model's text in a turn, and of a tool result. */
const lengths = { prompt: 128, said: 32, answer: 32 };

/**
 * Median times in milliseconds for `conversations` conversations side by side: `step` samples one token of each, and `turn`
 * is a whole turn, which reads the new prompt tokens first.
 */
export async function turnLatency(
  runtime: Runtime,
  model: Model,
  conversations: number,
): Promise<Record<string, unknown>> {
  const sampler = new Sampler(runtime, model);
  const steps: number[][] = Array.from({ length: turns }, () => []);
  const whole: number[][] = Array.from({ length: turns }, () => []);
  // The first repetition compiles and is not counted.
  for (let repetition = 0; repetition <= repetitions; repetition++) {
    const histories = Array.from({ length: conversations }, () => new Int32Array());
    for (let turn = 0; turn < turns; turn++) {
      const begin = performance.now();
      const times: number[] = [];
      await Promise.all(histories.map((_, index) => takeTurn(histories, index, turn, repetition, times)));
      if (repetition === 0) continue;
      whole[turn]!.push(performance.now() - begin);
      steps[turn]!.push(...times.slice(1).map((time, index) => time - times[index]!));
    }
    for (const index of histories.keys()) sampler.forget(`${repetition}-${index}`);
  }
  await sampler.close();
  const rounded = (times: number[][]) => times.map((some) => Number(median(some).toFixed(3)));
  return { unit: 'ms', conversations, lengths, step: rounded(steps), turn: rounded(whole) };

  async function takeTurn(
    histories: Int32Array[],
    index: number,
    turn: number,
    repetition: number,
    times: number[],
  ): Promise<void> {
    const length = turn === 0 ? lengths.prompt : lengths.answer;
    const heard = randomTokens(model.config.vocab_size, length, 'turn', repetition, index, turn);
    const prompt = joined(histories[index]!, heard);
    const { tokens } = await sampler.sample({
      prompt,
      maxTokens: lengths.said,
      temperature: 1,
      seed: turn * conversations + index,
      stopTokens: [],
      episodeId: `${repetition}-${index}`,
      // Times the tokens of the first conversation.
      ...(index === 0 && {
        stopsAt() {
          times.push(performance.now());
          return false;
        },
      }),
    });
    histories[index] = joined(prompt, tokens);
  }
}

function joined(a: Int32Array, b: Int32Array): Int32Array {
  const both = new Int32Array(a.length + b.length);
  both.set(a);
  both.set(b, a.length);
  return both;
}
