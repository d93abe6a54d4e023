/** The smallest thing that can learn: heads or tails, from one logit. Policy and learner at once. */
import { readFile, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { createRng, defineToolEnv, type EnvHandle, openEnv, type SamplingOptions } from '@toolenv/core';
import type { AdamW, Learner, TokenBatch, TokenGradients, TrainablePolicy } from '@toolenv/core/learner';

const [tails, heads, prompt] = [0, 1, 2];

/** Heads is worth 1. */
const coinEnv = defineToolEnv({
  name: 'coin-v1',
  description: 'Say heads or tails.',
  rewards: { heads: { kind: 'outcome' } },
  limits: { maxTurns: 1 },
  tasks: { train: [0], validation: [0] },
  episode: () => ({
    messages: 'Heads or tails?',
    onAnswer: (side) => ({ rewards: { heads: Number(side === 'heads') }, end: 'answered' }),
  }),
});

export function openCoin(): Promise<EnvHandle<unknown>> {
  return openEnv(coinEnv);
}

export class Coin implements TrainablePolicy, Learner {
  readonly learner = this;
  readonly spec = { name: 'coin', contextLength: 2 };
  logit = -1;
  #gradient = 0;

  /** Probability of heads. */
  get chance(): number {
    return 1 / (1 + Math.exp(-this.logit));
  }

  async act(_observation: unknown, { seed }: SamplingOptions) {
    const token = createRng(seed, 'coin').float() < this.chance ? heads : tails;
    const logprobs = Float32Array.of(this.#logprob(token));
    const tokens = { prompt: Int32Array.of(prompt), action: Int32Array.of(token), logprobs };
    return { text: token === heads ? 'heads' : 'tails', toolCalls: [], stopReason: 'stop' as const, tokens };
  }

  async forward({ rows }: TokenBatch) {
    const logprobs = rows.map(({ tokens, mask }) =>
      Float32Array.from(tokens, (token, t) => (mask[t] === 1 ? this.#logprob(token) : 0)),
    );
    return { logprobs, entropy: logprobs.map((row) => row.map(() => 0)) };
  }

  async backward({ rows }: TokenBatch, { dLogprobs }: TokenGradients): Promise<void> {
    for (const [b, { tokens, mask }] of rows.entries()) {
      for (const [t, token] of tokens.entries()) {
        if (mask[t] === 1) this.#gradient += dLogprobs[b]![t]! * ((token === heads ? 1 : 0) - this.chance);
      }
    }
  }

  /** Plain gradient descent. */
  async step({ learningRate }: AdamW) {
    const gradNorm = Math.abs(this.#gradient);
    this.logit -= learningRate * this.#gradient;
    this.#gradient = 0;
    return { gradNorm };
  }

  async reference() {
    const frozen = new Coin();
    frozen.logit = this.logit;
    return frozen;
  }

  async save(folder: string): Promise<void> {
    await writeFile(join(folder, 'coin.json'), JSON.stringify(this.logit));
  }

  async load(folder: string): Promise<void> {
    this.logit = JSON.parse(await readFile(join(folder, 'coin.json'), 'utf8'));
  }

  #logprob(token: number): number {
    return Math.log(token === heads ? this.chance : 1 - this.chance);
  }
}
