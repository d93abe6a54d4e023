/** The smallest thing with turns that can learn: climb to rung two, then say so. A table is policy, critic and learner. */
import { mkdir, readFile, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import {
  createRng,
  defineToolEnv,
  type EnvHandle,
  type Observation,
  openEnv,
  type Policy,
  type SamplingOptions,
  type Tool,
  text,
} from '@toolenv/core';
import type { AdamW, Learner, Rows, TokenBatch, TokenGradients, TokenOutputs } from '@toolenv/core/learner';

/** Tokens: the rung that one stands on (0–5), the call `climb`, and the answer. */
const vocabulary = 8;
const climb = 6;
const done = 7;

const climbTool: Tool = {
  name: 'climb',
  description: 'Climb a rung.',
  inputSchema: { type: 'object', properties: {} },
  execute: async () => text('up'),
};

/** Pays 1 for an answer on rung two, and 0.1 for each rung up to there. */
export async function openClimb(begin: () => void = () => {}): Promise<EnvHandle<unknown>> {
  const tasks = { length: 40, get: () => null };
  const ladder = defineToolEnv({
    name: 'climb-v1',
    description: 'Climb to rung two.',
    rewards: { right: { kind: 'outcome' }, climbed: { kind: 'process', weight: 0.1 } },
    limits: { maxTurns: 5, maxCallsPerTurn: 1, toolTimeout: 1000, maxToolCharacters: 100 },
    tasks: { train: tasks, validation: tasks, test: tasks },
    episode() {
      begin();
      let rung = 0;
      return {
        messages: 'Climb.',
        tools: [climbTool],
        onToolResults() {
          rung += 1;
          return { rewards: { climbed: Number(rung <= 2) } };
        },
        onAnswer: () => ({ rewards: { right: Number(rung === 2) }, end: 'answered' }),
      };
    },
  });
  return openEnv(ladder);
}

/** Policy and critic know the last token only. Gradient descent, without momentum. */
export class Table implements Policy, Learner {
  readonly spec = { name: 'table', contextLength: 64 };
  /** Written where the mask is 0: a trainer that reads there is found out. */
  junk = 0;
  /** [last token][next token] */
  logits: Float64Array = Float64Array.from({ length: vocabulary ** 2 }, (_, i) =>
    i % vocabulary >= climb ? 2 : 0,
  );
  /** [last token] */
  values: Float64Array = new Float64Array(vocabulary);
  hasCritic = false;
  #gradient = { logits: new Float64Array(vocabulary ** 2), values: new Float64Array(vocabulary) };

  async addCritic(): Promise<void> {
    this.hasCritic = true;
    this.values = new Float64Array(vocabulary);
  }

  async act({ messages }: Observation, { temperature, seed }: SamplingOptions) {
    const prompt: number[] = [];
    let rung = 0;
    for (const { role } of messages) {
      if (role === 'user') prompt.push(0);
      if (role === 'assistant') prompt.push(climb);
      if (role === 'tool') prompt.push(++rung);
    }
    const p = this.distribution(prompt.at(-1)!, temperature || 1);
    let token = p.indexOf(Math.max(...p));
    if (temperature > 0) {
      let threshold = createRng(seed, 'token').float();
      token = 0;
      while (token < vocabulary - 1 && threshold >= p[token]!) threshold -= p[token++]!;
    }
    const tokens = {
      prompt: Int32Array.from(prompt),
      action: Int32Array.of(token),
      logprobs: Float32Array.of(Math.log(p[token]!)),
    };
    const calls = token === climb ? [{ id: String(rung), name: 'climb', arguments: {} }] : [];
    const stopReason = token === climb ? ('tool_call' as const) : ('stop' as const);
    return { text: token === done ? 'done' : '', toolCalls: calls, stopReason, tokens };
  }

  distribution(last: number, temperature = 1): number[] {
    const row = this.logits.subarray(last * vocabulary, (last + 1) * vocabulary);
    const weights = Array.from(row, (logit) => Math.exp(logit / temperature));
    const sum = weights.reduce((total, weight) => total + weight, 0);
    return weights.map((weight) => weight / sum);
  }

  /** The probability of climbing twice and then answering. */
  get skill(): number {
    return [0, 1, 2].reduce(
      (product, rung) => product * this.distribution(rung)[rung < 2 ? climb : done]!,
      1,
    );
  }

  async forward({ rows, temperature = 1 }: TokenBatch): Promise<TokenOutputs> {
    const each = (value: (last: number, token: number) => number): Rows =>
      rows.map(({ tokens, mask }) =>
        Float32Array.from(tokens, (token, t) => (mask[t] === 1 ? value(tokens[t - 1]!, token) : this.junk)),
      );
    const entropy = (p: number[]) => -p.reduce((sum, x) => sum + x * Math.log(x), 0);
    return {
      logprobs: each((last, token) => Math.log(this.distribution(last, temperature)[token]!)),
      entropy: each((last) => entropy(this.distribution(last, temperature))),
      ...(this.hasCritic && { values: each((last) => this.values[last]!) }),
    };
  }

  async backward(
    { rows, temperature = 1 }: TokenBatch,
    { dLogprobs, dEntropy, dValues }: TokenGradients,
  ): Promise<void> {
    for (const [b, { tokens, mask }] of rows.entries()) {
      for (const [t, token] of tokens.entries()) {
        if (mask[t] !== 1) continue;
        const last = tokens[t - 1]!;
        const p = this.distribution(last, temperature);
        const entropy = -p.reduce((sum, x) => sum + x * Math.log(x), 0);
        for (const [k, x] of p.entries()) {
          const ofEntropy = dEntropy ? dEntropy[b]![t]! * -x * (Math.log(x) + entropy) : 0;
          const slope = dLogprobs[b]![t]! * (Number(k === token) - x) + ofEntropy;
          this.#gradient.logits[last * vocabulary + k]! += slope / temperature;
        }
        if (dValues) this.#gradient.values[last]! += dValues[b]![t]!;
      }
    }
  }

  async step({ learningRate, critic, criticOnly }: AdamW) {
    const { logits, values } = this.#gradient;
    this.#gradient = { logits: new Float64Array(logits.length), values: new Float64Array(values.length) };
    const criticRate = critic?.learningRate ?? learningRate;
    this.values = this.values.map((value, i) => value - criticRate * values[i]!);
    if (!criticOnly) this.logits = this.logits.map((logit, i) => logit - learningRate * logits[i]!);
    return { gradNorm: Math.hypot(...logits), criticGradNorm: Math.hypot(...values) };
  }

  async reference(): Promise<Pick<Learner, 'forward'>> {
    const frozen = new Table();
    frozen.logits = this.logits.slice();
    return frozen;
  }

  async save(folder: string): Promise<void> {
    await mkdir(folder, { recursive: true });
    const state = { logits: [...this.logits], values: [...this.values] };
    await writeFile(join(folder, 'table.json'), JSON.stringify(state));
  }

  async load(folder: string): Promise<void> {
    const { logits, values } = JSON.parse(await readFile(join(folder, 'table.json'), 'utf8'));
    this.logits = Float64Array.from(logits);
    this.values = Float64Array.from(values);
  }
}
