/** SpyLearner: computes as another learner does, notes what it is given to learn, and never changes the policy. */
import type {
  BackwardOutputs,
  CriticOptions,
  Learner,
  Rows,
  TokenBatch,
  TokenGradients,
  TokenOutputs,
} from '@toolenv/core/learner';

/** A row that was learned from. */
export interface LearnedRow {
  tokens: Int32Array;
  mask: Uint8Array;
  /** Gradients of log-probabilities and entropies: 0 where nothing is learned. */
  weights: number[];
}

export class SpyLearner implements Learner {
  readonly rows: LearnedRow[] = [];
  readonly trains?: Learner['trains'];
  readonly vocabularySize?: number;
  readonly addCritic?: (options: CriticOptions) => Promise<void>;
  readonly #learner: Learner;

  constructor(learner: Learner) {
    this.#learner = learner;
    if (learner.trains) this.trains = learner.trains;
    if (learner.vocabularySize !== undefined) this.vocabularySize = learner.vocabularySize;
    if (learner.addCritic) this.addCritic = (options) => learner.addCritic!(options);
  }

  forward(batch: TokenBatch): Promise<TokenOutputs> {
    return this.#learner.forward(batch);
  }

  async backward(batch: TokenBatch, { dLogprobs, dEntropy }: TokenGradients): Promise<BackwardOutputs> {
    for (const [index, { tokens, mask }] of batch.rows.entries()) {
      const at = (rows: Rows | undefined, place: number) => Math.abs(rows?.[index]?.[place] ?? 0);
      const weights = Array.from(tokens, (_, place) => at(dLogprobs, place) + at(dEntropy, place));
      this.rows.push({ tokens: Int32Array.from(tokens), mask: Uint8Array.from(mask), weights });
    }
    const { logprobs, entropy } = await this.#learner.forward(batch);
    return { logprobs, ...(entropy && { entropy }) };
  }

  async step(): Promise<{ gradNorm: number; criticGradNorm: number }> {
    return { gradNorm: 0, criticGradNorm: 0 };
  }

  reference(): Promise<Pick<Learner, 'forward'>> {
    return this.#learner.reference();
  }

  save(folder: string): Promise<void> {
    return this.#learner.save(folder);
  }

  load(folder: string): Promise<void> {
    return this.#learner.load(folder);
  }
}
