/** Logits at every position of one sequence, computed directly. Tests compare the sampler and the learner with them. */
import { batchAttention } from '../src/model/batch-attention.ts';
import { decoder, logits } from '../src/model/decoder.ts';
import type { Model } from '../src/model/model.ts';
import { type Executable, type Runtime, type Tensors, tensor } from '../src/runtime/runtime.ts';

export class AllLogits {
  readonly #model: Model;
  readonly #program: Promise<Executable>;

  constructor(runtime: Runtime, model: Model) {
    this.#model = model;
    this.#program = runtime.compile((ops) => {
      const tokens = ops.input('tokens', 'int32', ['B', 'T']);
      const positions = ops.input('positions', 'int32', ['B', 'T']);
      const attention = batchAttention(ops, model.config, { blocks: 1, branches: false });
      const hidden = decoder(ops, model.config, tokens, positions, attention);
      return { logits: logits(ops, model.config, hidden) };
    });
  }

  /** Logits [T, vocabulary] for `tokens` [T]. Default weights: the model's current ones. */
  async of(tokens: ArrayLike<number>, weights: Tensors = this.#model.weights): Promise<Float32Array[]> {
    const time = tokens.length;
    const places = Float32Array.from({ length: time }, (_, place) => place);
    const outputs = await (await this.#program).run({
      ...weights,
      ...this.#model.constants,
      tokens: tensor(Int32Array.from(tokens), [1, time]),
      positions: tensor(Int32Array.from(places), [1, time]),
      depths: tensor(places, [1, time]),
      places: tensor(places, [time]),
      ends: tensor(new Float32Array(time).fill(time), [1, time]),
    });
    const flat = outputs.logits!.data as Float32Array;
    const width = this.#model.config.vocab_size;
    return Array.from({ length: tokens.length }, (_, position) =>
      flat.slice(position * width, (position + 1) * width),
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
