/** A minimal language model: a table of logits of the next token given the last token. */
import { mkdir, readFile, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import {
  type Action,
  createRng,
  type EncodedRow,
  type Observation,
  type PlainText,
  type Policy,
  type SamplingOptions,
  ToolEnvError,
} from '@toolenv/core';
import type {
  AdamW,
  Learner,
  Noise,
  Rows,
  TokenBatch,
  TokenGradients,
  TokenOutputs,
} from '@toolenv/core/learner';
import { withNoise } from '../src/trainer/bandit-model.ts';

const vocabulary = 16;
/** The token that ends a turn. */
const end = 0;

/** Probabilities of the token after `last` at a temperature. */
function distribution(table: Float64Array, last: number, temperature: number): number[] {
  const logits = Array.from(
    table.subarray(last * vocabulary, (last + 1) * vocabulary),
    (x) => x / temperature,
  );
  const highest = Math.max(...logits);
  const weights = logits.map((logit) => Math.exp(logit - highest));
  const total = weights.reduce((sum, weight) => sum + weight, 0);
  return weights.map((weight) => weight / total);
}

/** Its weights, gradients and Adam moments, in double precision. */
export class TableLearner implements Learner {
  table: Float64Array = Float64Array.from({ length: vocabulary ** 2 }, (_, i) => Math.sin(i * 7.3));
  gradient: Float64Array = new Float64Array(vocabulary ** 2);
  moments: { step: number; first: Float64Array; second: Float64Array } = {
    step: 0,
    first: new Float64Array(vocabulary ** 2),
    second: new Float64Array(vocabulary ** 2),
  };

  /** The critic's value after each last token; `undefined` without a critic. */
  values: Float64Array | undefined;
  valueGradient: Float64Array = new Float64Array(vocabulary);

  async addCritic(): Promise<void> {
    this.values = new Float64Array(vocabulary);
  }

  async forward(batch: TokenBatch): Promise<TokenOutputs> {
    return outputs(this.table, batch, this.values);
  }

  async backward(
    batch: TokenBatch,
    { dLogprobs, dEntropy, dValues }: TokenGradients,
  ): ReturnType<Learner['backward']> {
    const { rows, temperature = 1 } = batch;
    for (const [b, { tokens, mask }] of rows.entries()) {
      for (const [t, token] of tokens.entries()) {
        if (mask[t] === 0) continue;
        const last = tokens[t - 1]!;
        if (dValues) this.valueGradient[last]! += dValues[b]![t]!;
        const p = distribution(this.table, last, temperature);
        const entropy = -p.reduce((sum, x) => sum + x * Math.log(x), 0);
        for (const [k, x] of p.entries()) {
          const ofLogprob = (k === token ? 1 : 0) - x;
          const ofEntropy = -x * (Math.log(x) + entropy);
          const slope = dLogprobs[b]![t]! * ofLogprob + (dEntropy ? dEntropy[b]![t]! * ofEntropy : 0);
          this.gradient[last * vocabulary + k]! += slope / temperature;
        }
      }
    }
    const { logprobs, entropy } = await this.forward(batch);
    return { logprobs, entropy };
  }

  async step({
    learningRate,
    beta1 = 0.9,
    beta2 = 0.999,
    epsilon = 1e-8,
    criticOnly = false,
  }: AdamW): Promise<{ gradNorm: number }> {
    const { gradient, moments, valueGradient } = this;
    this.gradient = new Float64Array(gradient.length);
    this.valueGradient = new Float64Array(vocabulary);
    this.values = this.values?.map((value, i) => value - learningRate * valueGradient[i]!);
    if (criticOnly) return { gradNorm: 0 };
    const gradNorm = Math.hypot(...gradient);
    if (!Number.isFinite(gradNorm))
      throw new ToolEnvError('bug.gradient_not_finite', `The norm is ${gradNorm}.`);
    const step = moments.step + 1;
    const first = gradient.map((g, i) => beta1 * moments.first[i]! + (1 - beta1) * g);
    const second = gradient.map((g, i) => beta2 * moments.second[i]! + (1 - beta2) * g * g);
    this.moments = { step, first, second };
    this.table = this.table.map((w, i) => {
      const mean = first[i]! / (1 - beta1 ** step);
      const variance = second[i]! / (1 - beta2 ** step);
      return w - (learningRate * mean) / (Math.sqrt(variance) + epsilon);
    });
    return { gradNorm };
  }

  /** While the table has noise: the table without. */
  calm: Float64Array | undefined;

  async perturb(noise?: Noise): Promise<void> {
    const calm = this.calm ?? this.table;
    this.table = noise ? withNoise(calm, [noise]) : calm;
    this.calm = noise && calm;
  }

  async shift(noise: readonly Noise[]): Promise<void> {
    await this.perturb();
    this.table = withNoise(this.table, noise);
  }

  async reference(): Promise<Pick<Learner, 'forward'>> {
    const frozen: TableLearner = Object.create(this);
    frozen.table = this.table.slice();
    frozen.values = undefined;
    return { forward: (batch) => frozen.forward(batch) };
  }

  async save(folder: string): Promise<void> {
    await mkdir(folder, { recursive: true });
    await this.perturb();
    const { step, first, second } = this.moments;
    const values = this.values && [...this.values];
    const state = { table: [...this.table], step, first: [...first], second: [...second], values };
    await writeFile(join(folder, 'table.json'), JSON.stringify(state));
  }

  async load(folder: string): Promise<void> {
    const state = JSON.parse(await readFile(join(folder, 'table.json'), 'utf8'));
    const { table, step, first, second, values } = state;
    this.values = values && Float64Array.from(values);
    this.table = Float64Array.from(table);
    this.calm = undefined;
    this.moments = { step, first: Float64Array.from(first), second: Float64Array.from(second) };
    this.gradient = new Float64Array(this.table.length);
  }
}

function outputs(
  table: Float64Array,
  { rows, temperature = 1 }: TokenBatch,
  values: Float64Array | undefined,
): TokenOutputs {
  const each = (value: (p: number[], token: number) => number): Rows =>
    rows.map(({ tokens, mask }) =>
      Float32Array.from(tokens, (token, t) =>
        mask[t] === 0 ? 0 : value(distribution(table, tokens[t - 1]!, temperature), token),
      ),
    );
  return {
    logprobs: each((p, token) => Math.log(p[token]!)),
    entropy: each((p) => -p.reduce((sum, x) => sum + x * Math.log(x), 0)),
    ...(values && {
      values: rows.map(({ tokens, mask }) =>
        Float32Array.from(tokens, (_, t) => (mask[t] === 0 ? 0 : values[tokens[t - 1]!]!)),
      ),
    }),
  };
}

/** Samples from the table. A prompt has one token per character; an action's text lists its tokens as numbers. */
export class TablePolicy implements Policy {
  readonly spec = { name: 'table', contextLength: 400 };
  readonly #table = new TableLearner().table;

  encode(example: Observation | PlainText): EncodedRow[] {
    if ('segments' in example) {
      let learned = 0;
      const pieces = example.segments.map(({ text, learn }) => ({
        tokens: tokensOf(text),
        turn: learn ? learned++ : -1,
      }));
      const last = pieces.at(-1)?.turn ?? -1;
      return [toRow(example.ends ? [...pieces, { tokens: [end], turn: last }] : pieces)];
    }
    const { messages, tools } = example;
    const spoken = [...messages.entries()].filter(([, { role }]) => role === 'assistant');
    return spoken.map(([index, { content }], turn) =>
      toRow([
        { tokens: tokensOf(JSON.stringify({ messages: messages.slice(0, index), tools })), turn: -1 },
        { tokens: [...tokensOf(content), end], turn },
      ]),
    );
  }

  async act(observation: Observation, options: SamplingOptions): Promise<Action> {
    const { maxTokens, temperature, seed, signal } = options;
    signal?.throwIfAborted();
    await new Promise((resolve) => setImmediate(resolve));
    signal?.throwIfAborted();
    const prompt = Int32Array.from(tokensOf(JSON.stringify(observation)));
    const room = Math.min(maxTokens, this.spec.contextLength - prompt.length);
    if (room < 1) throw new ToolEnvError('context.overflow', `${prompt.length} tokens are too many.`);
    const rng = createRng(seed, 'table');
    const tokens: number[] = [];
    const logprobs: number[] = [];
    while (tokens.length < room && tokens.at(-1) !== end) {
      const p = distribution(this.#table, tokens.at(-1) ?? prompt.at(-1)!, temperature || 1);
      const token = temperature === 0 ? p.indexOf(Math.max(...p)) : draw(p, rng.float());
      tokens.push(token);
      logprobs.push(Math.log(p[token]!));
    }
    const stopped = tokens.at(-1) === end;
    return {
      text: tokens.join(' '),
      toolCalls: [],
      stopReason: stopped ? 'stop' : 'length',
      tokens: { prompt, action: Int32Array.from(tokens), logprobs: Float32Array.from(logprobs) },
    };
  }
}

function tokensOf(text: string): number[] {
  return Array.from(text, (c) => c.codePointAt(0)! % vocabulary);
}

/** A row whose pieces belong to a turn, or to none (−1). */
function toRow(pieces: readonly { tokens: readonly number[]; turn: number }[]): EncodedRow {
  const turns = Int32Array.from(pieces.flatMap(({ tokens, turn }) => tokens.map(() => turn)));
  if (turns.length > 0) turns[0] = -1;
  return {
    tokens: Int32Array.from(pieces.flatMap(({ tokens }) => tokens)),
    mask: Uint8Array.from(turns, (turn) => Number(turn >= 0)),
    turns,
  };
}

function draw(p: readonly number[], float: number): number {
  let below = 0;
  const index = p.findIndex((x) => {
    below += x;
    return float < below;
  });
  return index < 0 ? p.length - 1 : index;
}
