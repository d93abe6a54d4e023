/** Logits at every position of one sequence, computed directly. Tests compare the sampler and the learner with them. */

import { batchContext } from '../src/model/batch-context.ts';
import { decoder, logits } from '../src/model/decoder.ts';
import { levelsOf, longestChunk } from '../src/model/delta-rule.ts';
import { isRecurrent } from '../src/model/known-architectures.ts';
import type { Model } from '../src/model/model.ts';
import { Programs } from '../src/runtime/programs.ts';
import { type Executable, type Runtime, type Tensors, tensor } from '../src/runtime/runtime.ts';

export class AllLogits {
  readonly #runtime: Runtime;
  readonly #model: Model;
  /** By the number of chunks. */
  readonly #programs: Programs<string> = new Programs();

  constructor(runtime: Runtime, model: Model) {
    this.#runtime = runtime;
    this.#model = model;
  }

  /** Logits [T, vocabulary] for `tokens` [T]. Default weights: the model's current ones. */
  async of(tokens: ArrayLike<number>, weights: Tensors = this.#model.weights): Promise<Float32Array[]> {
    const used = tokens.length;
    const chunks = isRecurrent(this.#model.config) ? Math.ceil(used / longestChunk) : 1;
    // Padding attends to itself.
    const time = Math.ceil(used / chunks) * chunks;
    const padded = Int32Array.from({ length: time }, (_, place) => tokens[place] ?? 0);
    const places = Float32Array.from({ length: time }, (_, place) => place);
    const ends = places.map((place) => (place < used ? used : place + 1));
    const outputs = await (await this.#program(chunks)).run({
      ...weights,
      ...this.#model.constants,
      tokens: tensor(padded, [1, time]),
      positions: tensor(Int32Array.from(places), [1, time]),
      depths: tensor(places, [1, time]),
      places: tensor(places, [time]),
      ends: tensor(ends, [1, time]),
      // The place before, plus 1.
      parents: tensor(Int32Array.from(places), [time]),
      levels: levelsOf(time / chunks, longestChunk),
    });
    const flat = outputs.logits!.data as Float32Array;
    const width = this.#model.config.vocab_size;
    return Array.from({ length: used }, (_, position) =>
      flat.slice(position * width, (position + 1) * width),
    );
  }

  #program(chunks: number): Promise<Executable> {
    return this.#programs.get(`${chunks}`, () =>
      this.#runtime.compile((ops) => {
        const tokens = ops.input('tokens', 'int32', ['B', 'T']);
        const positions = ops.input('positions', 'int32', ['B', 'T']);
        const context = batchContext(ops, this.#model.config, { blocks: 1, branches: false, chunks });
        const hidden = decoder(ops, this.#model.config, tokens, positions, context);
        return { logits: logits(ops, this.#model.config, hidden) };
      }),
    );
  }
}

/** log softmax(logits / temperature)[token], in double precision. */
export function logProbabilityOf(logits: Float32Array, token: number, temperature = 1): number {
  const scaled = Array.from(logits, (value) => value / temperature);
  const top = Math.max(...scaled);
  const normaliser = scaled.reduce((sum, value) => sum + Math.exp(value - top), 0);
  return scaled[token]! - top - Math.log(normaliser);
}
