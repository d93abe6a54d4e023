/** Draws from distributions in a device's memory. If the vocabulary is large, only the drawn token's block is copied. */
import type { Rng } from '@toolenv/core';
import type { Ops } from '../runtime/ops.ts';
import { Programs } from '../runtime/programs.ts';
import { type Runtime, type Tensor, tensor } from '../runtime/runtime.ts';
import { largestDivisor } from '../runtime/shape.ts';
import { type Drawing, type DrawnToken, drawToken, passing } from './draw-token.ts';
import { truncates } from './truncate-distribution.ts';

/** A smaller vocabulary is copied whole. */
const minVocabulary = 4096;

/**
 * The number of equal blocks to split a vocabulary into: its largest divisor up to its square root, so that there are
 * about as many blocks as tokens in a block. 1 if the vocabulary is small or prime.
 */
export function blockCount(vocabulary: number): number {
  if (vocabulary < minVocabulary) return 1;
  return largestDivisor(vocabulary, Math.sqrt(vocabulary));
}

/** The blocks of a row to copy, and the draw from their probabilities. */
interface Choice {
  first: number;
  count: number;
  find(probabilities: Float32Array): DrawnToken;
}

export class BlockDrawing {
  readonly #runtime: Runtime;
  /** The number of blocks of the vocabulary. */
  readonly count: number;
  readonly #size: number;
  readonly #programs: Programs<'choose'> = new Programs();

  constructor(runtime: Runtime, vocabulary: number) {
    this.#runtime = runtime;
    this.count = blockCount(vocabulary);
    this.#size = vocabulary / this.count;
  }

  /**
   * Draws a token for each row.
   * @param probabilities [B, vocabulary], on the device.
   * @param sums [B, blocks], the total probability of each block.
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
    const compile = () => this.#runtime.compile((ops) => ({ chosen: this.#choose(ops) }));
    const program = await this.#programs.get('choose', compile);
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
    // Finding the likeliest token, and excluding tokens, take the whole row.
    const excludes = drawing.limit?.allowed !== undefined || truncates(drawing, this.count * this.#size);
    if (drawing.temperature === 0 || excludes)
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
    const blocks = ops.reshape(probabilities, ['blocks', this.#size]);
    return ops.gatherRows(blocks, ops.input('ids', 'int32', ['N']));
  }
}
