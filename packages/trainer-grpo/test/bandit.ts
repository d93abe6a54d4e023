/** The smallest thing that can learn: one state, some arms, a logit for each. The trainer sees a policy and a learner. */
import { mkdir, readFile, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import {
  createRng,
  defineTool,
  defineToolEnv,
  type EnvHandle,
  type Observation,
  openEnv,
  type Policy,
  text,
} from '@toolenv/core';
import type { Learner, TokenBatch } from '@toolenv/core/learner';

const arms = 5;
const prompt = Int32Array.of(arms);
/** The token of the tool's answer, whatever it says; an arm, so that it has a probability. */
const answer = 0;

const limits = { maxTurns: 1, maxCallsPerTurn: 1, toolTimeout: 1000, maxToolCharacters: 100 };

/** Pays by the arm that was pulled. */
async function openArms(pay: (arm: number) => number): Promise<EnvHandle<unknown>> {
  const tasks = { length: 40, get: () => null };
  const bandit = defineToolEnv({
    name: 'bandit-v1',
    description: 'Pull an arm.',
    rewards: { win: { kind: 'outcome' } },
    limits,
    tasks: { train: tasks, validation: tasks, test: tasks },
    episode: () => ({
      messages: 'Pull an arm.',
      onAnswer: (arm) => ({ rewards: { win: pay(Number(arm)) }, end: 'pulled' }),
    }),
  });
  return openEnv(bandit);
}

/** Pays 1 for one arm, the same in every task. */
export function openBandit(best: number): Promise<EnvHandle<unknown>> {
  return openArms((arm) => Number(arm === best));
}

/** Pays a quarter of the arm's number. */
export function openGradedBandit(): Promise<EnvHandle<unknown>> {
  return openArms((arm) => arm / 4);
}

const pull = defineTool<{ arm: number }>({
  name: 'pull',
  description: 'Pull an arm.',
  inputSchema: { type: 'object', properties: { arm: { type: 'integer' } }, required: ['arm'] },
  execute: async ({ arm }) => text(String(arm)),
});

/** Two pulls, each paid at once: the first by calling a tool, whose answer is one token. */
export async function openTwoPulls(best: number): Promise<EnvHandle<unknown>> {
  const pays = (arm: string) => Number(arm === String(best));
  const twoPulls = defineToolEnv({
    name: 'two-pulls-v1',
    description: 'Pull an arm, twice.',
    rewards: { first: { kind: 'process' }, second: { kind: 'outcome' } },
    limits: { ...limits, maxTurns: 2 },
    tasks: { train: { length: 40, get: () => null } },
    episode: () => ({
      messages: 'Pull an arm, twice.',
      tools: [pull],
      onToolResults: ([call]) => ({ rewards: { first: pays(call!.text) } }),
      onAnswer: (arm) => ({ rewards: { second: pays(arm) }, end: 'pulled' }),
    }),
  });
  return openEnv(twoPulls);
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

  /** Plays {@link openTwoPulls}: the second prompt is the first, its action, and the tool's answer. */
  async actTwice(observation: Observation, options: Parameters<Policy['act']>[1]) {
    const action = await this.act(observation, options);
    const [called] = observation.messages.flatMap((message) =>
      'toolCalls' in message ? (message.toolCalls ?? []) : [],
    );
    if (called) {
      const first = (called.arguments as { arm: number }).arm;
      return { ...action, tokens: { ...action.tokens, prompt: Int32Array.of(arms, first, answer) } };
    }
    const toolCalls = [{ id: 'first', name: 'pull', arguments: { arm: Number(action.text) } }];
    return { ...action, toolCalls };
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
    { dLogprobs, dEntropy }: Parameters<Learner['backward']>[1],
  ): Promise<void> {
    const probabilities = this.probabilities(temperature);
    const entropy = probabilities.reduce((sum, p) => sum - p * Math.log(p), 0);
    for (const [b, { tokens, mask }] of rows.entries()) {
      for (const [t, token] of tokens.entries()) {
        if (mask[t] !== 1) continue;
        for (let arm = 0; arm < arms; arm++) {
          const slope = (Number(arm === token) - probabilities[arm]!) / temperature;
          this.#gradient[arm]! += dLogprobs[b]![t]! * slope;
          if (!dEntropy) continue;
          const p = probabilities[arm]!;
          this.#gradient[arm]! -= (dEntropy[b]![t]! * p * (Math.log(p) + entropy)) / temperature;
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
