/** The smallest thing that can learn: one state, some arms, a logit for each. The trainer sees a policy and a learner. */
import { mkdir, readFile, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import {
  createRng,
  defineTool,
  type EnvHandle,
  type Observation,
  outcomeReward,
  type Policy,
  processReward,
  type ToolCallRecord,
  ToolEnv,
  terminated,
  text,
} from '@toolenv/core';
import type { Learner, TokenBatch, TrainablePolicy } from '@toolenv/core/learner';

const arms = 5;
const prompt = Int32Array.of(arms);
/** The token of the tool's answer, whatever it says; an arm, so that it has a probability. */
const answer = 0;

/** Pays 1 for the arm that the task names. */
class BanditEnv extends ToolEnv<{ best: number }, { best: number }> {
  spec = {
    specVersion: 'v1' as const,
    name: 'bandit-v1',
    rewards: { win: outcomeReward([0, 1], 1) },
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

/** Pays a quarter of the arm's number. */
export class GradedBandit extends BanditEnv {
  override onAnswer(_state: { best: number }, text: string) {
    return { rewards: { win: Number(text) / 4 }, outcome: terminated('pulled') };
  }
}

/** Every task has the same best arm. */
export function openBandit(best: number): EnvHandle<unknown> {
  const tasks = { length: 40, get: () => ({ best }) };
  return {
    tasks: { train: tasks, validation: tasks, test: tasks },
    episode: () => new BanditEnv(),
    close: async () => {},
  } as EnvHandle<unknown>;
}

/** Two pulls, each paid at once: the first by calling a tool, whose answer is one token. */
class TwoPullsEnv extends ToolEnv<{ best: number }, { best: number }> {
  spec = {
    specVersion: 'v1' as const,
    name: 'two-pulls-v1',
    rewards: { first: processReward([0, 1], 1), second: outcomeReward([0, 1], 1) },
    limits: { maxTurns: 2, maxCallsPerTurn: 1, toolTimeout: 1000, maxToolCharacters: 100 },
  };
  initial({ best }: { best: number }) {
    return { state: { best }, messages: [{ role: 'user' as const, content: 'Pull an arm, twice.' }] };
  }
  tools() {
    return [pull];
  }
  override onToolResults({ best }: { best: number }, [call]: ToolCallRecord[]) {
    return { rewards: { first: Number(call!.text === String(best)) } };
  }
  onAnswer({ best }: { best: number }, text: string) {
    return { rewards: { second: Number(text === String(best)) }, outcome: terminated('pulled') };
  }
}

const pull = defineTool<{ arm: number }>({
  name: 'pull',
  description: 'Pull an arm.',
  inputSchema: { type: 'object', properties: { arm: { type: 'integer' } }, required: ['arm'] },
  execute: async ({ arm }) => text(String(arm)),
});

export function openTwoPulls(best: number): EnvHandle<unknown> {
  return { ...openBandit(best), episode: () => new TwoPullsEnv() } as EnvHandle<unknown>;
}

/** softmax(logits) as policy and learner at once; its optimizer is gradient descent. */
export class Softmax implements TrainablePolicy, Learner {
  readonly learner = this;
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

  /** Plays {@link TwoPullsEnv}: the second prompt is the first, its action, and the tool's answer. */
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
