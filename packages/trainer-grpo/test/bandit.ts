/** The smallest thing that can learn: one state, some arms, a logit for each. The trainer sees a policy and a learner. */
import { mkdir, readFile, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import {
  createRng,
  type Learner,
  type OpenEnv,
  outcome,
  type Policy,
  type TokenBatch,
  ToolEnv,
  terminated,
} from '@toolenv/core';

const arms = 5;
const prompt = Int32Array.of(arms);

/** Pays 1 for the arm that the task names. */
class BanditEnv extends ToolEnv<{ best: number }, { best: number }> {
  spec = {
    specVersion: 'v1' as const,
    name: 'bandit-v1',
    rewards: { win: outcome([0, 1], 1) },
    limits: { maxTurns: 1, maxCallsPerTurn: 1, toolTimeout: 1000, maxToolCharacters: 100 },
  };
  initial({ best }: { best: number }) {
    return { state: { best }, messages: [{ role: 'user' as const, content: 'Pull an arm.' }] };
  }
  tools() {
    return [];
  }
  override onToolResults() {
    return {};
  }
  onAnswer({ best }: { best: number }, text: string) {
    return { rewards: { win: Number(text === String(best)) }, outcome: terminated('pulled') };
  }
}

/** Every task has the same best arm. */
export function openBandit(best: number): OpenEnv<unknown> {
  const tasks = { length: 40, at: () => ({ best }) };
  return {
    tasks: { train: tasks, validation: tasks, test: tasks },
    episode: () => new BanditEnv(),
    close: async () => {},
  } as OpenEnv<unknown>;
}

/** softmax(logits) as policy and learner at once; its optimizer is gradient descent. */
export class Softmax implements Policy, Learner {
  spec = { name: 'softmax', contextLength: 8 };
  logits: Float32Array = new Float32Array(arms);
  #gradient: Float32Array = new Float32Array(arms);

  async act(_observation: unknown, { temperature, seed }: Parameters<Policy['act']>[1]) {
    const probabilities = this.probabilities(temperature || 1);
    let token = probabilities.indexOf(Math.max(...probabilities));
    if (temperature > 0) {
      let threshold = createRng(seed, 'arm').float();
      token = 0;
      while (token < arms - 1 && threshold >= probabilities[token]!) threshold -= probabilities[token++]!;
    }
    const logprobs = Float32Array.of(Math.log(probabilities[token]!));
    const tokens = { prompt, action: Int32Array.of(token), logprobs };
    return { text: String(token), toolCalls: [], stopReason: 'stop' as const, tokens };
  }

  probabilities(temperature = 1): number[] {
    const weights = Array.from(this.logits, (logit) => Math.exp(logit / temperature));
    const sum = weights.reduce((total, weight) => total + weight, 0);
    return weights.map((weight) => weight / sum);
  }

  async forward({ rows, temperature = 1 }: TokenBatch) {
    const probabilities = this.probabilities(temperature);
    const each = (value: (token: number) => number) =>
      rows.map(({ tokens, mask }) =>
        Float32Array.from(tokens, (token, t) => (mask[t] === 1 ? value(token) : 0)),
      );
    const entropy = probabilities.reduce((sum, p) => sum - p * Math.log(p), 0);
    return { logprobs: each((token) => Math.log(probabilities[token]!)), entropy: each(() => entropy) };
  }

  async backward(
    { rows, temperature = 1 }: TokenBatch,
    { dLogprobs }: Parameters<Learner['backward']>[1],
  ): Promise<void> {
    const probabilities = this.probabilities(temperature);
    for (const [b, { tokens, mask }] of rows.entries()) {
      for (const [t, token] of tokens.entries()) {
        if (mask[t] !== 1) continue;
        for (let arm = 0; arm < arms; arm++) {
          const slope = (Number(arm === token) - probabilities[arm]!) / temperature;
          this.#gradient[arm]! += dLogprobs[b]![t]! * slope;
        }
      }
    }
  }

  async step({ learningRate }: Parameters<Learner['step']>[0]): Promise<{ gradNorm: number }> {
    const gradNorm = Math.hypot(...this.#gradient);
    this.logits = this.logits.map((logit, arm) => logit - learningRate * this.#gradient[arm]!);
    this.#gradient.fill(0);
    return { gradNorm };
  }

  async reference(): Promise<Softmax> {
    const frozen = new Softmax();
    frozen.logits = this.logits.slice();
    return frozen;
  }

  async save(folder: string): Promise<void> {
    await mkdir(folder, { recursive: true });
    await writeFile(join(folder, 'logits.json'), JSON.stringify([...this.logits]));
  }

  async load(folder: string): Promise<void> {
    this.logits = Float32Array.from(JSON.parse(await readFile(join(folder, 'logits.json'), 'utf8')));
  }
}
