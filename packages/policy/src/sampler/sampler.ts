/** Samples for many conversations at once: whoever waits is batched, and keys and values are kept from turn to turn. */
import { ToolEnvError } from '@toolenv/core';
import { leaveModel, type Model } from '../model/model.ts';
import type { Runtime } from '../runtime/runtime.ts';
import { CachedDecoder } from './cached-decoder.ts';
import type { Drawing } from './draw-token.ts';

export interface SampleRequest extends Drawing {
  /** [P] the whole prompt. */
  prompt: Int32Array;
  maxTokens: number;
  seed: number;
  /** Tokens that end the sequence; they are part of it. */
  stopTokens: readonly number[];
  /** Asked after each token, with all so far, whether it ends the sequence. */
  stopsAt?(sampled: readonly number[]): boolean;
  /** Conversations of one name continue each other's cache where the tokens agree. */
  conversation?: string;
  /** In place of the sampler's own; of several that are at work together, the least counts. */
  batchDelay?: number;
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
  batchDelay?: number;
}

/** A beginning that is shorter is computed for each: waiting for another to compute it costs a run. */
const leastShared = 16;

/** A conversation's place in the cache, and its request while there is one. */
interface Slot {
  conversation: string | undefined;
  /** The tokens whose keys and values are cached, and then those still to be computed. */
  tokens: number[];
  cached: number;
  request: Pending | undefined;
}

interface Pending extends SampleRequest {
  sampled: number[];
  logprobs: number[];
  resolve(sample: Sample): void;
  reject(error: unknown): void;
}

export class Sampler {
  readonly #model: Model;
  readonly #maxConversations: number;
  readonly #tokenBudget: number;
  readonly #decoder: CachedDecoder;
  #slots: Slot[] = [];
  #waiting: Pending[] = [];
  #weights: Model['weights'] | undefined;
  #looping = false;
  readonly #batchDelay: number;
  /** Conversations between two turns. */
  readonly #away: Set<string> = new Set();
  #onReturn: () => void = () => {};

  constructor(runtime: Runtime, model: Model, options: SamplerOptions = {}) {
    const { maxConversations = 256, tokenBudget = 4096, batchDelay = 1000 } = options;
    this.#model = model;
    model.users.add(this);
    this.#decoder = new CachedDecoder(runtime, model);
    this.#maxConversations = maxConversations;
    this.#tokenBudget = tokenBudget;
    this.#batchDelay = batchDelay;
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
        this.#waiting.push({ ...request, sampled: [], logprobs: [], resolve, reject });
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
    const index = this.#slots.findIndex((slot) => slot.conversation === conversation);
    if (index >= 0) {
      this.#slots[index]!.conversation = undefined;
      if (!this.#slots[index]!.request) this.#free(index);
    }
  }

  /** Of a slot that nobody has, nothing is kept: the cache of the others would be as long. */
  #free(index: number): void {
    this.#truncate(index, 0);
    if (this.#slots.every(({ request, conversation }) => !request && conversation === undefined))
      this.#reset();
  }

  async close(): Promise<void> {
    this.#failAll(new ToolEnvError('bug.sampler', 'The sampler was closed.'));
    await this.#decoder.close();
    leaveModel(this.#model, this);
  }

  async #loop(): Promise<void> {
    this.#looping = true;
    try {
      await nextTurnOfEventLoop();
      while (this.#waiting.length > 0 || this.#slots.some(({ request }) => request)) {
        await this.#everyoneBack();
        await this.#model.exclusively(async () => {
          this.#forgetStaleCache();
          this.#dropAborted();
          this.#admit();
          await this.#advance();
        });
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
    const batchDelay = Math.min(...working.map(({ batchDelay = this.#batchDelay }) => batchDelay));
    let timer: NodeJS.Timeout | undefined;
    await new Promise<void>((resolve) => {
      this.#onReturn = resolve;
      timer = setTimeout(resolve, batchDelay);
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
    for (const index of this.#slots.keys()) this.#truncate(index, 0);
    if (this.#slots.every(({ request }) => !request)) this.#reset();
  }

  #reset(): void {
    this.#slots = [];
    this.#decoder.clear();
  }

  #dropAborted(): void {
    const alive = (pending: Pending) => {
      if (!pending.signal?.aborted) return true;
      pending.reject(pending.signal.reason);
      return false;
    };
    this.#waiting = this.#waiting.filter(alive);
    for (const [index, slot] of this.#slots.entries()) {
      if (!slot.request || alive(slot.request)) continue;
      slot.request = undefined;
      if (slot.conversation === undefined) this.#free(index);
    }
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
      const own = slot.conversation === pending.conversation ? commonPrefix(slot.tokens, pending.prompt) : 0;
      // The last prompt token is always computed, because its logits are what is sampled from.
      this.#truncate(index, Math.min(own, pending.prompt.length - 1));
      slot.conversation = pending.conversation;
      slot.tokens = [...pending.prompt];
      slot.request = pending;
      this.#copyShared(index);
      const { temperature, topK, topP, minP, seed } = pending;
      this.#decoder.begin(index, { temperature, topK, topP, minP, seed });
    }
    this.#waiting = stillWaiting;
  }

  #findSlot(conversation: string | undefined): number {
    const own = this.#slots.findIndex(
      (slot) => conversation !== undefined && slot.conversation === conversation,
    );
    if (own >= 0) return this.#slots[own]!.request ? -1 : own;
    const free = this.#freeSlot();
    return free >= 0 ? free : this.#slots.findIndex((slot) => !slot.request);
  }

  /** A slot that nobody has. */
  #freeSlot(): number {
    const free = this.#slots.findIndex((slot) => !slot.request && slot.conversation === undefined);
    if (free >= 0 || this.#slots.length >= this.#maxConversations) return free;
    return this.#slots.push({ conversation: undefined, tokens: [], cached: 0, request: undefined }) - 1;
  }

  #active(): number[] {
    return [...this.#slots.keys()].filter((index) => this.#slots[index]!.request);
  }

  #truncate(index: number, length: number): void {
    const slot = this.#slots[index]!;
    if (slot.cached <= length) return;
    slot.cached = length;
    this.#decoder.truncate(index, length);
  }

  #lacking(index: number): Int32Array {
    const { tokens, cached } = this.#slots[index]!;
    return Int32Array.from(tokens.slice(cached));
  }

  /** How many tokens of a slot are not cached. */
  #lag(index: number): number {
    return this.#slots[index]!.tokens.length - this.#slots[index]!.cached;
  }

  /** One run: computes what some of the slots lack and samples a token for each of these. */
  async #advance(): Promise<void> {
    const chosen = this.#chosen();
    if (chosen.length === 0) return;
    const drawn = await this.#decoder.advance(chosen.map((slot) => ({ slot, tokens: this.#lacking(slot) })));
    for (const index of chosen) this.#slots[index]!.cached = this.#slots[index]!.tokens.length;
    // Who has waited copies now: one that ends here gives its place up.
    for (const index of this.#active()) if (this.#lag(index) > 1) this.#copyShared(index);
    for (const { slot, token, logprob } of drawn) this.#append(slot, token, logprob);
  }

  /** The slots to compute next: some that lag behind, or else all, a token for each. */
  #chosen(): number[] {
    const active = this.#active();
    const behind = active.filter((index) => this.#lag(index) > 1);
    return behind.length > 0 ? this.#fitting(this.#leaders(behind)) : active;
  }

  /** Copies what a slot lacks and another has cached: the prompt of a group, or what all prompts begin with. */
  #copyShared(index: number): void {
    const slot = this.#slots[index]!;
    let [from, most] = [-1, 0];
    for (const other of this.#slots.keys()) {
      const shared = this.#gain(index, other, this.#slots[other]!.cached);
      if (shared > most) [from, most] = [other, shared];
    }
    if (from < 0) return;
    slot.cached += most;
    this.#decoder.fork(from, index, slot.cached);
  }

  /** Those to compute first: the others begin as one of them does, and copy that from it afterwards. */
  #leaders(behind: readonly number[]): number[] {
    const leaders: number[] = [];
    for (const index of behind) {
      const follows = leaders.some(
        (leader) => this.#gain(index, leader, this.#slots[leader]!.tokens.length) > 0,
      );
      if (!follows) leaders.push(index);
    }
    return leaders;
  }

  /** How many positions a slot would gain by copying from the first `available` of another: 0 if too few. */
  #gain(index: number, other: number, available: number): number {
    const { tokens, cached } = this.#slots[index]!;
    // The last token is always computed: its logits are what is sampled from.
    const limit = Math.min(available, tokens.length - 1);
    const source = this.#slots[other]!.tokens;
    const least = cached + leastShared;
    if (other === index || limit < least || tokens[least - 1] !== source[least - 1]) return 0;
    const shared = Math.min(commonPrefix(tokens, source), limit);
    return shared < least ? 0 : shared - cached;
  }

  /** As many of the slots that lag behind as the token budget allows, longest first so that little is padding. */
  #fitting(behind: number[]): number[] {
    const order = behind.sort((a, b) => this.#lag(b) - this.#lag(a) || a - b);
    const count = Math.max(1, Math.floor(this.#tokenBudget / this.#lag(order[0]!)));
    return order.slice(0, count).sort((a, b) => a - b);
  }

  #append(index: number, token: number, logprob: number): void {
    const slot = this.#slots[index]!;
    const pending = slot.request!;
    pending.sampled.push(token);
    pending.logprobs.push(logprob);
    slot.tokens.push(token);
    const stopped = pending.stopTokens.includes(token) || pending.stopsAt?.(pending.sampled) === true;
    if (!stopped && pending.sampled.length < pending.maxTokens) return;
    slot.request = undefined;
    if (slot.conversation !== undefined) this.#away.add(slot.conversation);
    else this.#truncate(index, 0);
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

function compare(a: string, b: string): number {
  return a < b ? -1 : a > b ? 1 : 0;
}

function commonPrefix(a: ArrayLike<number>, b: ArrayLike<number>): number {
  let length = 0;
  while (length < a.length && length < b.length && a[length] === b[length]) length++;
  return length;
}

function nextTurnOfEventLoop(): Promise<void> {
  return new Promise((resolve) => setImmediate(resolve));
}
