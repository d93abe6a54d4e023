/** Draws from distributions in a device's memory: of a large vocabulary, only the block comes here that a token is in. */
import type { Rng } from '@toolenv/core';
import type { Ops } from '../runtime/ops.ts';
import { Programs } from '../runtime/programs.ts';
import { type Runtime, type Tensor, tensor } from '../runtime/runtime.ts';
import { type Drawing, type DrawnToken, drawToken, passing } from './draw-token.ts';
import { truncates } from './truncate-distribution.ts';

/** A smaller vocabulary comes whole. */
const leastVocabulary = 4096;

/** Into how many blocks of one size a vocabulary is cut, about as many as tokens in each; 1 if it is small or prime. */
export function blockCount(vocabulary: number): number {
  if (vocabulary < leastVocabulary) return 1;
  let count = Math.floor(Math.sqrt(vocabulary));
  while (vocabulary % count !== 0) count -= 1;
  return count;
}

/** Blocks of a row, from `first` on, and its token in them. */
interface Choice {
  first: number;
  count: number;
  find(probabilities: Float32Array): DrawnToken;
}

export class BlockDrawing {
  readonly #runtime: Runtime;
  /** Blocks of the vocabulary. */
  readonly count: number;
  readonly #size: number;
  readonly #programs: Programs<'choose'> = new Programs();

  constructor(runtime: Runtime, vocabulary: number) {
    this.#runtime = runtime;
    this.count = blockCount(vocabulary);
    this.#size = vocabulary / this.count;
  }

  /**
   * A token of each row.
   * @param probabilities [B, vocabulary], on the device.
   * @param sums [B, blocks], of the probabilities of each block.
   */
  async draw(
    probabilities: Tensor,
    sums: Tensor,
    drawings: readonly { drawing: Drawing; rng: Rng }[],
  ): Promise<DrawnToken[]> {
    const choices = drawings.map(({ drawing, rng }, row) => {
      const ofRow = sums.data.subarray(row * this.count, (row + 1) * this.count) as Float32Array;
      return this.#choice(ofRow, drawing, rng);
    });
    const ids = choices.flatMap(({ first, count }, row) =>
      Array.from({ length: count }, (_, block) => row * this.count + first + block),
    );
    const program = await this.#programs.get('choose', () =>
      this.#runtime.compile((ops) => ({ chosen: this.#choose(ops) })),
    );
    const { chosen } = await program.run({ probabilities, ids: tensor(Int32Array.from(ids), [ids.length]) });
    let end = 0;
    return choices.map(({ count, find }) => {
      const start = end;
      end += count * this.#size;
      return find(chosen!.data.subarray(start, end) as Float32Array);
    });
  }

  async close(): Promise<void> {
    await this.#programs.closeAll();
  }

  #choice(sums: Float32Array, drawing: Drawing, rng: Rng): Choice {
    // The likeliest token, and what is cut off, show only in the whole.
    if (drawing.temperature === 0 || truncates(drawing, this.count * this.#size))
      return { first: 0, count: this.count, find: (whole) => drawToken(whole, drawing, rng) };
    const threshold = rng.float();
    const { index: first, before } = passing(sums, threshold);
    const find = (block: Float32Array) => {
      const { index } = passing(block, threshold - before);
      return { token: first * this.#size + index, logprob: Math.log(block[index]!) };
    };
    return { first, count: 1, find };
  }

  #choose<T>(ops: Ops<T>): T {
    const probabilities = ops.input('probabilities', 'float32', ['B', this.count * this.#size]);
    return ops.gatherRows(
      ops.reshape(probabilities, ['blocks', this.#size]),
      ops.input('ids', 'int32', ['N']),
    );
  }
}
