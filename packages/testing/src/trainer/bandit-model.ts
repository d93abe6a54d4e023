/** BanditModel: the smallest policy that a trainer can train. It has a logit for each arm, and a critic of one number. */
import { mkdir, readFile, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import {
  type Action,
  createRng,
  defineToolEnv,
  type EncodedRow,
  type EnvHandle,
  type Message,
  type Observation,
  openEnv,
  type PlainText,
  type SamplingOptions,
  ToolEnvError,
} from '@toolenv/core';
import type {
  AdamW,
  BackwardOutputs,
  Learner,
  Noise,
  Rows,
  TokenBatch,
  TokenGradients,
  TokenOutputs,
  TrainablePolicy,
} from '@toolenv/core/learner';

/** The task names the machine. All machines pay for the same arm. */
export interface BanditTask {
  machine: number;
}

export interface BanditOptions {
  /** The arm that pays 1. The others pay 0. */
  best: number;
  /** Machines that break when they are played, which aborts the episode. Default: none. */
  failing?: readonly number[];
}

/** Number of machines, which are the tasks of each split. */
export const machines = 8;

/** An open bandit, to train in: `openBandit({ best: 1 })`. {@link BanditModel} can play it. */
export function openBandit({ best, failing = [] }: BanditOptions): Promise<EnvHandle<BanditTask>> {
  const tasks = { length: machines, get: (machine: number) => ({ machine }) };
  const bandit = defineToolEnv({
    name: 'bandit-v1',
    description: 'Pull an arm of a machine.',
    prompts: { hint: '' },
    limits: { maxTurns: 1 },
    tasks: { train: tasks, validation: tasks, test: tasks },
    rewards: { win: { kind: 'outcome' } },
    episode: ({ task: { machine }, prompt }) => ({
      messages: `${prompt('hint')}Machine ${machine}: which arm?`,
      onAnswer(arm) {
        if (!failing.includes(machine))
          return { rewards: { win: Number(arm === String(best)) }, end: 'pulled' };
        throw new ToolEnvError('infrastructure.machine', `Machine ${machine} is broken: play another.`);
      },
    }),
    oracle: () => [String(best)],
  });
  return openEnv(bandit);
}

/**
 * A softmax over the arms of a bandit, as policy and learner at once. Tokens below `arms` are arms; token `arms + n` is the
 * prompt of machine n. All machines share the logits. The optimizer is plain gradient descent, so that an update can be
 * computed by hand: `logit −= learningRate · gradient`, without momentum, decay or clipping.
 */
export class BanditModel implements TrainablePolicy, Learner {
  readonly learner: this = this;
  readonly spec = { name: 'bandit', contextLength: 16 };
  readonly arms: number;
  /** The arms, then the prompts of the machines. */
  readonly vocabulary: ReadonlyMap<number, string>;
  /** [arms] */
  logits: Float64Array;
  /** What the critic expects of an episode; `undefined` without a critic. */
  value: number | undefined;
  /** While the logits have noise: the logits without. */
  #calm: Float64Array | undefined;
  #gradient: { logits: Float64Array; value: number };

  constructor(arms = 2) {
    this.arms = arms;
    const prompts = Array.from({ length: 64 }, (_, machine) => `Machine ${machine}`);
    this.vocabulary = new Map(
      [...Array.from({ length: arms }, (_, arm) => String(arm)), ...prompts].entries(),
    );
    this.logits = new Float64Array(arms);
    this.#gradient = { logits: new Float64Array(arms), value: 0 };
  }

  /** All numbers that training changes: the logits, then the critic's value if there is a critic. */
  get weights(): number[] {
    return [...this.logits, ...(this.value === undefined ? [] : [this.value])];
  }

  /** [arms] The chance of each arm. */
  probabilities(temperature = 1): number[] {
    const highest = Math.max(...this.logits);
    const weights = Array.from(this.logits, (logit) => Math.exp((logit - highest) / temperature));
    const sum = weights.reduce((total, weight) => total + weight, 0);
    return weights.map((weight) => weight / sum);
  }

  async act({ messages }: Observation, options: SamplingOptions): Promise<Action> {
    const { temperature, seed, signal } = options;
    signal?.throwIfAborted();
    const probabilities = this.probabilities(temperature || 1);
    const best = probabilities.indexOf(Math.max(...probabilities));
    const arm = temperature === 0 ? best : draw(probabilities, createRng(seed, 'arm').float());
    const tokens = {
      prompt: Int32Array.of(this.arms + machineOf(messages.at(-1))),
      action: Int32Array.of(arm),
      logprobs: Float32Array.of(Math.log(probabilities[arm]!)),
    };
    return { text: String(arm), toolCalls: [], stopReason: 'stop', tokens };
  }

  encode(example: Observation | PlainText): EncodedRow[] {
    if ('segments' in example) return [];
    const { messages } = example;
    const turns = messages.flatMap(({ role }, index) => (role === 'assistant' ? [index] : []));
    return turns.map((index, turn) => ({
      tokens: Int32Array.of(this.arms + machineOf(messages[index - 1]), Number(messages[index]!.content)),
      mask: Uint8Array.of(0, 1),
      turns: Int32Array.of(-1, turn),
    }));
  }

  async addCritic(): Promise<void> {
    this.value = 0;
  }

  async forward({ rows, temperature = 1 }: TokenBatch): Promise<TokenOutputs> {
    const probabilities = this.probabilities(temperature);
    const entropy = entropyOf(probabilities);
    const each = (output: (token: number) => number): Rows =>
      rows.map(({ tokens, mask }) =>
        Float32Array.from(tokens, (token, t) => (mask[t] === 1 ? output(token) : 0)),
      );
    const { value } = this;
    return {
      logprobs: each((token) => Math.log(probabilities[token]!)),
      entropy: each(() => entropy),
      ...(value !== undefined && { values: each(() => value) }),
    };
  }

  async backward(batch: TokenBatch, gradients: TokenGradients): Promise<BackwardOutputs> {
    const { rows, temperature = 1 } = batch;
    const { dLogprobs, dEntropy, dValues } = gradients;
    const probabilities = this.probabilities(temperature);
    const entropy = entropyOf(probabilities);
    for (const [b, { tokens, mask }] of rows.entries()) {
      for (const [t, token] of tokens.entries()) {
        if (mask[t] !== 1) continue;
        for (const [arm, p] of probabilities.entries()) {
          const ofLogprob = Number(arm === token) - p;
          const ofEntropy = p > 0 ? -p * (Math.log(p) + entropy) : 0;
          const slope = dLogprobs[b]![t]! * ofLogprob + (dEntropy?.[b]?.[t] ?? 0) * ofEntropy;
          this.#gradient.logits[arm]! += slope / temperature;
        }
        this.#gradient.value += dValues?.[b]?.[t] ?? 0;
      }
    }
    const outputs = await this.forward(batch);
    return { logprobs: outputs.logprobs, entropy: outputs.entropy };
  }

  async step({
    learningRate,
    critic,
    criticOnly = false,
  }: AdamW): Promise<{ gradNorm: number; criticGradNorm: number }> {
    const { logits, value } = this.#gradient;
    this.#gradient = { logits: new Float64Array(this.arms), value: 0 };
    const gradNorm = Math.hypot(...logits);
    if (!Number.isFinite(gradNorm + value)) {
      throw new ToolEnvError('bug.gradient_not_finite', `The norm is ${gradNorm}, of the critic ${value}.`);
    }
    if (!criticOnly) this.logits = this.logits.map((logit, arm) => logit - learningRate * logits[arm]!);
    if (this.value !== undefined) this.value -= (critic?.learningRate ?? learningRate) * value;
    return { gradNorm, criticGradNorm: Math.abs(value) };
  }

  async perturb(noise?: Noise): Promise<void> {
    const calm = this.#calm ?? this.logits;
    this.logits = noise ? withNoise(calm, [noise]) : calm;
    this.#calm = noise && calm;
  }

  async shift(noise: readonly Noise[]): Promise<void> {
    await this.perturb();
    this.logits = withNoise(this.logits, noise);
  }

  async reference(): Promise<Pick<Learner, 'forward'>> {
    const frozen = new BanditModel(this.arms);
    frozen.logits = this.logits.slice();
    return frozen;
  }

  async save(folder: string): Promise<void> {
    await this.perturb();
    await mkdir(folder, { recursive: true });
    const state = { logits: [...this.logits], value: this.value };
    await writeFile(join(folder, 'bandit.json'), JSON.stringify(state));
  }

  async load(folder: string): Promise<void> {
    const { logits, value } = JSON.parse(await readFile(join(folder, 'bandit.json'), 'utf8'));
    this.logits = Float64Array.from(logits);
    this.value = value;
    this.#calm = undefined;
    this.#gradient = { logits: new Float64Array(this.arms), value: 0 };
  }
}

/** The weights with the sum of the noise: ±scale on each. */
export function withNoise(weights: Float64Array, noise: readonly Noise[]): Float64Array {
  const rngs = noise.map(({ seed, scale }) => ({ rng: createRng(seed), scale }));
  return weights.map((weight) =>
    rngs.reduce((sum, { rng, scale }) => sum + scale * (rng.int(2) * 2 - 1), weight),
  );
}

/** The number of the machine that a message asks about. */
function machineOf(message: Message | undefined): number {
  return Number(/\d+/.exec(message?.content ?? '')?.[0] ?? 0);
}

/** In nats. */
function entropyOf(probabilities: readonly number[]): number {
  return probabilities.reduce((sum, p) => (p > 0 ? sum - p * Math.log(p) : sum), 0);
}

/** @param float From 0 to 1. */
function draw(probabilities: readonly number[], float: number): number {
  let left = float;
  const arm = probabilities.findIndex((p) => {
    left -= p;
    return left < 0;
  });
  return arm < 0 ? probabilities.length - 1 : arm;
}
