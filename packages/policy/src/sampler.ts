/** Samples for many conversations at once: whoever waits is batched, and keys and values are kept from turn to turn. */
import { createRng, type Rng, ToolEnvError } from '@toolenv/core';
import { samplingProgram } from './cached-attention.ts';
import { KvCache } from './kv-cache.ts';
import type { Model } from './model.ts';
import { causalMask } from './padded-batch.ts';
import { type Executable, type Runtime, tensor } from './runtime.ts';
import { type Truncation, truncateDistribution } from './truncate-distribution.ts';

export interface SampleRequest extends Truncation {
  /** [P] the whole prompt. */
  prompt: Int32Array;
  maxTokens: number;
  /** 0 is greedy. */
  temperature: number;
  seed: number;
  /** Tokens that end the sequence; they are part of it. */
  stopTokens: readonly number[];
  /** Asked after each token, with all so far, whether it ends the sequence. */
  stopsAt?(sampled: readonly number[]): boolean;
  /** Conversations of one name continue each other's cache where the tokens agree. */
  conversation?: string;
  /** In place of the sampler's own; of several that are at work together, the least counts. */
  patience?: number;
  signal?: AbortSignal;
}

export interface Sample {
  /** [A] */
  tokens: Int32Array;
  /** [A] under the temperature, of all tokens, truncated or not; greedy decoding reports those of temperature 1. */
  logprobs: Float32Array;
  stopped: boolean;
}

export interface SamplerOptions {
  /** Conversations whose cache is held; more wait for their turn. */
  maxConversations?: number;
  /** Padded prompt tokens computed at a time. */
  tokenBudget?: number;
  /**
   * Milliseconds to wait for conversations whose turn has ended and that have not come back (their tools are at work)
   * before going on without them. Within it, who runs together depends on no timing, so that equal seeds give equal bits.
   */
  patience?: number;
}

/** A conversation's place in the cache, and its request while there is one. */
interface Slot {
  conversation: string | undefined;
  /** The tokens whose keys and values are cached, and then those still to be computed. */
  tokens: number[];
  request: Pending | undefined;
}

interface Pending extends SampleRequest {
  rng: Rng;
  sampled: number[];
  logprobs: number[];
  resolve(sample: Sample): void;
  reject(error: unknown): void;
}

export class Sampler {
  readonly #runtime: Runtime;
  readonly #model: Model;
  readonly #maxConversations: number;
  readonly #tokenBudget: number;
  readonly #cache: KvCache;
  /** For one new token of each conversation, and for any number of them. */
  #programs: { one?: Promise<Executable>; many?: Promise<Executable> } = {};
  #slots: Slot[] = [];
  #waiting: Pending[] = [];
  #weights: Model['weights'] | undefined;
  #looping = false;
  readonly #patience: number;
  /** Conversations between two turns. */
  readonly #away: Set<string> = new Set();
  #onReturn: () => void = () => {};

  constructor(runtime: Runtime, model: Model, options: SamplerOptions = {}) {
    const { maxConversations = 256, tokenBudget = 4096, patience = 1000 } = options;
    this.#runtime = runtime;
    this.#model = model;
    this.#maxConversations = maxConversations;
    this.#tokenBudget = tokenBudget;
    this.#patience = patience;
    this.#cache = new KvCache(model.config, { neverEmpty: runtime.refusesEmpty });
  }

  /**
   * Resolves when the sequence has ended; rejects with the signal's reason if aborted.
   * @throws ToolEnvError `bug.sample` for a request that the model cannot serve.
   */
  async sample(request: SampleRequest): Promise<Sample> {
    this.#check(request);
    const stopWaiting = () => this.#onReturn();
    request.signal?.addEventListener('abort', stopWaiting, { once: true });
    try {
      return await new Promise<Sample>((resolve, reject) => {
        const rng = createRng(request.seed, 'sample');
        this.#waiting.push({ ...request, rng, sampled: [], logprobs: [], resolve, reject });
        this.#returned(request.conversation);
        if (!this.#looping) void this.#loop();
      });
    } finally {
      request.signal?.removeEventListener('abort', stopWaiting);
    }
  }

  #check({ prompt, maxTokens }: SampleRequest): void {
    const { vocab_size: vocabulary, max_position_embeddings: context } = this.#model.config;
    const refuse = (what: string) => {
      throw new ToolEnvError('bug.sample', `Cannot sample: ${what}.`);
    };
    if (prompt.length === 0) refuse('the prompt is empty');
    if (!(maxTokens >= 1)) refuse(`maxTokens is ${maxTokens}; give at least 1`);
    if (prompt.length + maxTokens > context) {
      refuse(`${prompt.length} prompt tokens and ${maxTokens} more pass the model's ${context} positions`);
    }
    const strange = prompt.find((token) => token < 0 || token >= vocabulary);
    if (strange !== undefined) refuse(`token ${strange} is not among the model's ${vocabulary}`);
  }

  /** Frees a conversation's place. */
  forget(conversation: string): void {
    this.#returned(conversation);
    const slot = this.#slots.find((candidate) => candidate.conversation === conversation);
    if (slot && !slot.request) slot.conversation = undefined;
    if (this.#slots.every((other) => !other.request && other.conversation === undefined)) this.#reset();
  }

  async close(): Promise<void> {
    for (const program of Object.values(this.#programs)) await (await program).close();
    this.#programs = {};
    this.#reset();
  }

  async #loop(): Promise<void> {
    this.#looping = true;
    try {
      await nextTurnOfEventLoop();
      while (this.#waiting.length > 0 || this.#slots.some(({ request }) => request)) {
        await this.#everyoneBack();
        this.#forgetStaleCache();
        this.#dropAborted();
        this.#admit();
        const behind = this.#active((index) => this.#lag(index) > 1);
        const next = behind.length > 0 ? this.#fitting(behind) : this.#compact();
        if (next.length > 0) await this.#advance(next);
        // Tools and environments go on between two runs, and what they ask for joins the next one.
        await nextTurnOfEventLoop();
      }
    } catch (error) {
      this.#failAll(error);
    } finally {
      this.#looping = false;
    }
  }

  async #everyoneBack(): Promise<void> {
    if (this.#away.size === 0) return;
    const working = [...this.#waiting, ...this.#slots.flatMap(({ request }) => request ?? [])];
    const patience = Math.min(...working.map(({ patience = this.#patience }) => patience));
    let timer: NodeJS.Timeout | undefined;
    await new Promise<void>((resolve) => {
      this.#onReturn = resolve;
      timer = setTimeout(resolve, patience);
    });
    clearTimeout(timer);
    this.#away.clear();
    await nextTurnOfEventLoop();
  }

  #returned(conversation: string | undefined): void {
    if (conversation !== undefined) this.#away.delete(conversation);
    if (this.#away.size === 0) this.#onReturn();
  }

  /** Weights that changed make every cached key and value wrong. */
  #forgetStaleCache(): void {
    if (this.#weights === this.#model.weights) return;
    this.#weights = this.#model.weights;
    for (const index of this.#slots.keys()) this.#cache.truncate(index, 0);
    if (this.#slots.every(({ request }) => !request)) this.#reset();
  }

  #reset(): void {
    this.#slots = [];
    this.#cache.clear();
  }

  #dropAborted(): void {
    const alive = (pending: Pending) => {
      if (!pending.signal?.aborted) return true;
      pending.reject(pending.signal.reason);
      return false;
    };
    this.#waiting = this.#waiting.filter(alive);
    for (const slot of this.#slots) if (slot.request && !alive(slot.request)) slot.request = undefined;
  }

  /** Gives waiting requests a slot: their conversation's own, a free one, a new one, or one that is only kept for later. */
  #admit(): void {
    const stillWaiting: Pending[] = [];
    // Whoever came first does not matter, so that the order of tool results does not either.
    this.#waiting.sort((a, b) => compare(a.conversation ?? '', b.conversation ?? ''));
    for (const pending of this.#waiting) {
      const index = this.#findSlot(pending.conversation);
      if (index < 0) {
        stillWaiting.push(pending);
        continue;
      }
      const slot = this.#slots[index]!;
      const shared =
        slot.conversation === pending.conversation ? commonPrefix(slot.tokens, pending.prompt) : 0;
      // The last prompt token is always computed, because its logits are what is sampled from.
      this.#cache.truncate(index, Math.min(shared, pending.prompt.length - 1));
      this.#slots[index] = {
        conversation: pending.conversation,
        tokens: [...pending.prompt],
        request: pending,
      };
    }
    this.#waiting = stillWaiting;
  }

  #findSlot(conversation: string | undefined): number {
    const own = this.#slots.findIndex(
      (slot) => conversation !== undefined && slot.conversation === conversation,
    );
    if (own >= 0) return this.#slots[own]!.request ? -1 : own;
    const free = this.#slots.findIndex((slot) => !slot.request && slot.conversation === undefined);
    if (free >= 0) return free;
    if (this.#slots.length < this.#maxConversations) {
      this.#slots.push({ conversation: undefined, tokens: [], request: undefined });
      return this.#slots.length - 1;
    }
    return this.#slots.findIndex((slot) => !slot.request);
  }

  #active(accept: (index: number) => boolean): number[] {
    return [...this.#slots.keys()].filter((index) => this.#slots[index]!.request && accept(index));
  }

  /** Tokens of a slot whose keys and values are still to be computed. */
  #lag(index: number): number {
    return this.#slots[index]!.tokens.length - this.#cache.length(index);
  }

  /** As many of the slots that lag behind as the token budget allows, longest first so that little is padding. */
  #fitting(behind: number[]): number[] {
    const order = behind.sort((a, b) => this.#lag(b) - this.#lag(a) || a - b);
    const count = Math.max(1, Math.floor(this.#tokenBudget / this.#lag(order[0]!)));
    return order.slice(0, count).sort((a, b) => a - b);
  }

  /** Moves the active slots to the front, so that the cache is read in place, and names them. */
  #compact(): number[] {
    const active = this.#active(() => true);
    for (const [target, index] of active.entries()) {
      if (index === target) continue;
      this.#swap(index, target);
    }
    return [...active.keys()];
  }

  #swap(a: number, b: number): void {
    this.#cache.swap(a, b);
    [this.#slots[a], this.#slots[b]] = [this.#slots[b]!, this.#slots[a]!];
  }

  /** One run: computes what these slots lack and samples one token for each. */
  async #advance(indices: number[]): Promise<void> {
    const counts = indices.map((index) => this.#lag(index));
    const time = Math.max(...counts);
    const program = await this.#compiled(time === 1);
    const dims = [indices.length, time];
    const tokens = new Int32Array(indices.length * time);
    const positions = new Int32Array(indices.length * time);
    for (const [row, index] of indices.entries()) {
      const past = this.#cache.length(index);
      for (let s = 0; s < counts[row]!; s++) {
        tokens[row * time + s] = this.#slots[index]!.tokens[past + s]!;
        positions[row * time + s] = past + s;
      }
    }
    const outputs = await program.run({
      ...this.#model.weights,
      ...this.#model.constants,
      ...this.#cache.view(indices),
      tokens: tensor(tokens, dims),
      positions: tensor(positions, dims),
      mask: tensor(causalMask(time), [time, time]),
      inverseTemperature: tensor(
        Float32Array.from(indices, (index) => 1 / (this.#slots[index]!.request!.temperature || 1)),
        [indices.length, 1],
      ),
      last: tensor(
        Int32Array.from(counts, (count, row) => row * time + count - 1),
        [indices.length],
      ),
    });
    this.#cache.append(indices, counts, outputs);
    const probabilities = outputs.probabilities!.data as Float32Array;
    const vocabulary = this.#model.config.vocab_size;
    for (const [row, index] of indices.entries()) {
      this.#sampleToken(index, probabilities.subarray(row * vocabulary, (row + 1) * vocabulary));
    }
  }

  #compiled(one: boolean): Promise<Executable> {
    const compile = (time: 1 | 'S') =>
      this.#runtime.compile((ops) => samplingProgram(ops, this.#model.config, time));
    if (one) {
      this.#programs.one ??= compile(1);
      return this.#programs.one;
    }
    this.#programs.many ??= compile('S');
    return this.#programs.many;
  }

  #sampleToken(index: number, probabilities: Float32Array): void {
    const slot = this.#slots[index]!;
    const pending = slot.request!;
    const { token, logprob } = draw(probabilities, pending, pending.rng);
    pending.sampled.push(token);
    pending.logprobs.push(logprob);
    slot.tokens.push(token);
    const stopped = pending.stopTokens.includes(token) || pending.stopsAt?.(pending.sampled) === true;
    if (!stopped && pending.sampled.length < pending.maxTokens) return;
    slot.request = undefined;
    if (slot.conversation !== undefined) this.#away.add(slot.conversation);
    else this.#cache.truncate(index, 0);
    const tokens = Int32Array.from(pending.sampled);
    pending.resolve({ tokens, logprobs: Float32Array.from(pending.logprobs), stopped });
  }

  #failAll(error: unknown): void {
    const cause = ToolEnvError.isInstance(error)
      ? error
      : new ToolEnvError('bug.sampler', `The sampler failed: ${error}`, { cause: error });
    for (const pending of this.#waiting) pending.reject(cause);
    for (const { request } of this.#slots) request?.reject(cause);
    this.#waiting = [];
    this.#reset();
  }
}

/** One token of a distribution and its log-probability in it. */
export function draw(
  probabilities: Float32Array,
  request: Pick<SampleRequest, 'temperature'> & Truncation,
  rng: Rng,
): { token: number; logprob: number } {
  const token =
    request.temperature === 0 ? mostProbable(probabilities) : sampled(probabilities, request, rng);
  return { token, logprob: Math.log(probabilities[token]!) };
}

function sampled(probabilities: Float32Array, truncation: Truncation, rng: Rng): number {
  const allowed = truncateDistribution(probabilities, truncation);
  const mass = allowed === probabilities ? 1 : allowed.reduce((sum, p) => sum + p, 0);
  return pick(allowed, rng.float() * mass);
}

function mostProbable(probabilities: Float32Array): number {
  let best = 0;
  for (let i = 1; i < probabilities.length; i++) if (probabilities[i]! > probabilities[best]!) best = i;
  return best;
}

/** The token at which the running sum passes `threshold`; rounding may leave the sum a little under the whole. */
function pick(probabilities: Float32Array, threshold: number): number {
  let sum = 0;
  for (let i = 0; i < probabilities.length; i++) {
    sum += probabilities[i]!;
    if (sum > threshold) return i;
  }
  return mostProbable(probabilities);
}

function compare(a: string, b: string): number {
  return a < b ? -1 : a > b ? 1 : 0;
}

function commonPrefix(cached: readonly number[], prompt: Int32Array): number {
  let length = 0;
  while (length < cached.length && length < prompt.length && cached[length] === prompt[length]) length++;
  return length;
}

function nextTurnOfEventLoop(): Promise<void> {
  return new Promise((resolve) => setImmediate(resolve));
}
