/** How long a token takes as conversations grow: turns that each go on from the cache of the one before. */
import { type Model, type Runtime, Sampler } from '@toolenv/policy';
import { median } from './median.ts';
import { randomTokens } from './model.ts';

const turns = 5;
const repetitions = 5;
/** Tokens of the first prompt, of what the model then says in a turn, and of what a tool answers. */
const lengths = { prompt: 128, said: 32, answer: 32 };

/**
 * Medians over some repetitions, in milliseconds, for so many conversations side by side: of one step, which samples a token for each
 * of them, and of the whole turn, which reads what is new first.
 */
export async function turnLatency(
  runtime: Runtime,
  model: Model,
  conversations: number,
): Promise<Record<string, unknown>> {
  const sampler = new Sampler(runtime, model);
  const steps: number[][] = Array.from({ length: turns }, () => []);
  const whole: number[][] = Array.from({ length: turns }, () => []);
  // The first compiles and is not counted.
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
      conversation: `${repetition}-${index}`,
      // The first conversation tells when its tokens come.
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
