/** Samples for many conversations at once: batches the waiting requests and keeps keys and values from turn to turn. */
import { ToolEnvError } from '@toolenv/core';
import { commonPrefix } from '../common-prefix.ts';
import { type Model, releaseModel } from '../model/model.ts';
import type { Runtime } from '../runtime/runtime.ts';
import { isBatchInvariant } from './batch-invariance.ts';
import { CachedDecoder, type DecoderOptions } from './cached-decoder.ts';
import { checkRequest, type Sample, type SampleRequest, type TokenSampler } from './sample-request.ts';
import { isAligned, type Leader, leadersOf, nextEnd, sharedPrefix } from './shared-prefix.ts';

/** Milliseconds in which quick tools return, so that their next turns join the run. */
const moment = 2;

export interface SamplerOptions extends DecoderOptions {
  /** The largest number of conversations with a cache; further requests wait for a slot. Default 256. */
  maxConversations?: number;
  /**
   * Padded prompt tokens of one run. Default: 1024, whose scores of attention stay in a CPU's cache; 4096 where each operation is costly.
   */
  tokenBudget?: number;
  /**
   * Milliseconds to wait for the next turn of episodes whose turn has ended, while their tools run, where the bits of samples depend on
   * the batch: on devices other than the CPU, for models that are not built in, and if there are more conversations than slots. If
   * all of them return in time, batches do not depend on timing, so equal seeds give equal bits. Default 1000.
   */
  batchDelay?: number;
}

/** A conversation's place in the cache, with its request while one is in progress. */
interface Slot {
  /** Absent if nobody will go on with the conversation. */
  owner: { episodeId: string; conversation: string | undefined } | undefined;
  /** The cached tokens, followed by the tokens that are not computed yet. */
  tokens: number[];
  cached: number;
  /** As in `SlotTokens`. */
  shareable: number;
  request: Pending | undefined;
}

interface Pending extends SampleRequest {
  sampled: number[];
  logprobs: number[];
  resolve(sample: Sample): void;
  reject(error: unknown): void;
}

export class Sampler implements TokenSampler {
  readonly #runtime: Runtime;
  readonly #model: Model;
  readonly #options: SamplerOptions;
  readonly #maxConversations: number;
  readonly #tokenBudget: number;
  readonly #decoder: CachedDecoder;
  #slots: Slot[] = [];
  #waiting: Pending[] = [];
  #weights: Model['weights'] | undefined;
  #looping = false;
  readonly #batchDelay: number;
  /** Episodes whose turn has ended and whose next turn has not begun, in whichever of their conversations. */
  readonly #away: Set<string> = new Set();
  #onReturn: () => void = () => {};

  /** @throws ToolEnvError `usage.device` if the runtime has no products in the given precision. */
  constructor(runtime: Runtime, model: Model, options: SamplerOptions = {}) {
    const {
      maxConversations = 256,
      tokenBudget = runtime.prefersFewOperations ? 4096 : 1024,
      batchDelay = 1000,
    } = options;
    this.#runtime = runtime;
    this.#options = options;
    this.#model = model;
    this.#decoder = new CachedDecoder(runtime, model, options);
    model.users.add(this);
    this.#maxConversations = maxConversations;
    this.#tokenBudget = tokenBudget;
    this.#batchDelay = batchDelay;
  }

  /**
   * Resolves when the sequence ends. Rejects with the signal's reason if the signal aborts.
   * @throws ToolEnvError `usage.sampling` for a sampling option out of range, `bug.sample` for a prompt that the
   * model cannot read.
   */
  async sample(request: SampleRequest): Promise<Sample> {
    checkRequest(request, this.#model.config);
    const stopWaiting = () => this.#onReturn();
    request.signal?.addEventListener('abort', stopWaiting, { once: true });
    try {
      return await new Promise<Sample>((resolve, reject) => {
        this.#waiting.push({ ...request, sampled: [], logprobs: [], resolve, reject });
        this.#returned(request.episodeId);
        if (!this.#looping) void this.#loop();
      });
    } finally {
      request.signal?.removeEventListener('abort', stopWaiting);
    }
  }

  /** Frees the slots of an episode. */
  forget(episodeId: string): void {
    this.#returned(episodeId);
    for (const [index, slot] of this.#slots.entries()) {
      if (slot.owner?.episodeId !== episodeId) continue;
      slot.owner = undefined;
      if (!slot.request) this.#free(index);
    }
  }

  /** Clears an unused slot so that it does not lengthen the shared cache. */
  #free(index: number): void {
    this.#truncate(index, 0);
    if (this.#slots.every(({ request, owner }) => !request && !owner)) this.#reset();
  }

  async close(): Promise<void> {
    this.#failAll(new ToolEnvError('bug.sampler', 'The sampler was closed.'));
    await this.#decoder.close();
    releaseModel(this.#model, this);
  }

  async #loop(): Promise<void> {
    this.#looping = true;
    try {
      await nextTurnOfEventLoop();
      while (this.#waiting.length > 0 || this.#slots.some(({ request }) => request)) {
        await this.#awaitReturns();
        await this.#model.exclusively(async () => {
          this.#forgetStaleCache();
          this.#dropAborted();
          this.#admit();
          await this.#advance();
        });
        // Let tools and environments continue, so that their new requests join the next run.
        await nextTurnOfEventLoop();
      }
    } catch (error) {
      this.#failAll(error);
    } finally {
      this.#looping = false;
    }
  }

  /** Waits until every episode between two turns is back, for a moment, or for `batchDelay` if the bits of samples depend on it. */
  async #awaitReturns(): Promise<void> {
    if (this.#away.size === 0) return;
    const delay = await this.#maxWait();
    let timer: NodeJS.Timeout | undefined;
    await new Promise<void>((resolve) => {
      this.#onReturn = resolve;
      timer = setTimeout(resolve, delay);
      if (this.#away.size === 0) resolve();
    });
    clearTimeout(timer);
    this.#away.clear();
    await nextTurnOfEventLoop();
  }

  async #maxWait(): Promise<number> {
    const requests = [...this.#waiting, ...this.#slots.flatMap(({ request }) => request ?? [])];
    const asked = Math.min(...requests.map(({ batchDelay = this.#batchDelay }) => batchDelay));
    // Without a free slot, a conversation loses its cache to another, and is computed again in other runs.
    const isFull = this.#slots.length >= this.#maxConversations;
    const waits =
      isFull || !this.#decoder.buildsIn || !(await isBatchInvariant(this.#runtime, this.#options));
    return waits ? asked : Math.min(asked, moment);
  }

  #returned(episodeId: string | undefined): void {
    if (episodeId !== undefined) this.#away.delete(episodeId);
    if (this.#away.size === 0) this.#onReturn();
  }

  /** Drops the cache if the weights have changed: its keys and values belong to the old weights. */
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
      if (!slot.owner) this.#free(index);
    }
  }

  /** Gives each waiting request a slot: its conversation's own, an unused or new slot, or one of a conversation between turns. */
  #admit(): void {
    const stillWaiting: Pending[] = [];
    // Sort by name, so that samples do not depend on the order in which tools finish.
    this.#waiting.sort(
      (a, b) =>
        compare(a.episodeId ?? '', b.episodeId ?? '') || compare(a.conversation ?? '', b.conversation ?? ''),
    );
    for (const pending of this.#waiting) {
      const index = this.#findSlot(pending);
      if (index < 0) {
        stillWaiting.push(pending);
        continue;
      }
      const slot = this.#slots[index]!;
      const own = isOf(slot, pending) ? commonPrefix(slot.tokens, pending.prompt) : 0;
      // Always compute the last prompt token: the first sampled token comes from its logits.
      this.#truncate(index, Math.min(own, pending.prompt.length - 1));
      const { episodeId, conversation } = pending;
      slot.owner = episodeId === undefined ? undefined : { episodeId, conversation };
      slot.tokens = [...pending.prompt];
      slot.request = pending;
      this.#copyShared(index);
      const { temperature, topK, topP, minP, seed, limit } = pending;
      this.#decoder.begin(index, { temperature, topK, topP, minP, seed, limit });
    }
    this.#waiting = stillWaiting;
  }

  #findSlot(pending: Pending): number {
    const own = this.#slots.findIndex((slot) => isOf(slot, pending));
    if (own >= 0) return this.#slots[own]!.request ? -1 : own;
    const free = this.#freeSlot();
    return free >= 0 ? free : this.#slots.findIndex((slot) => !slot.request);
  }

  /** The index of an unused or new slot; -1 if there are `maxConversations` slots already. */
  #freeSlot(): number {
    const free = this.#slots.findIndex((slot) => !slot.request && !slot.owner);
    if (free >= 0 || this.#slots.length >= this.#maxConversations) return free;
    return (
      this.#slots.push({ owner: undefined, tokens: [], cached: 0, shareable: 0, request: undefined }) - 1
    );
  }

  /** Whether a conversation of the episode is taking its turn. */
  #isBusy(episode: string): boolean {
    return (
      this.#waiting.some(({ episodeId }) => episodeId === episode) ||
      this.#slots.some(({ request }) => request?.episodeId === episode)
    );
  }

  #active(): number[] {
    return [...this.#slots.keys()].filter((index) => this.#slots[index]!.request);
  }

  #truncate(index: number, length: number): void {
    const slot = this.#slots[index]!;
    if (slot.cached <= length) return;
    slot.cached = this.#decoder.truncate(index, length);
    slot.shareable = Math.min(slot.shareable, slot.cached);
  }

  /** The number of tokens of a slot that are not cached. */
  #lag(index: number): number {
    return this.#slots[index]!.tokens.length - this.#slots[index]!.cached;
  }

  /** Runs the model once: computes missing tokens of some slots, and samples the next token of those that lack no others. */
  async #advance(): Promise<void> {
    const active = this.#active();
    const behind = active.filter((index) => this.#lag(index) > 1);
    // Some of the slots that lack more than one token, or else all active slots, one token each.
    const chosen =
      behind.length > 0
        ? this.#fitting(leadersOf(this.#slots, behind))
        : active.map((slot) => ({ slot, copies: [] }));
    if (chosen.length === 0) return;
    const rows = chosen.map(({ slot, copies }) => {
      const { tokens, cached } = this.#slots[slot]!;
      const end = nextEnd(this.#slots[slot]!);
      return {
        slot,
        copies,
        tokens: Int32Array.from(tokens.slice(cached, end)),
        draws: end === tokens.length,
      };
    });
    const drawn = await this.#decoder.advance(rows);
    for (const { slot, copies } of chosen) for (const index of [slot, ...copies]) this.#computed(index);
    // Copy shared prefixes before finished slots are freed.
    for (const index of this.#active()) if (this.#lag(index) > 1) this.#copyShared(index);
    for (const { slot, token, logprob } of drawn) this.#append(slot, token, logprob);
  }

  #computed(index: number): void {
    const slot = this.#slots[index]!;
    const end = nextEnd(slot);
    if (isAligned(slot)) slot.shareable = end;
    slot.cached = end;
  }

  /** Copies the longest prefix that the slot lacks and another slot has cached. */
  #copyShared(index: number): void {
    const shared = sharedPrefix(this.#slots, index, this.#decoder.forksWhole);
    if (!shared) return;
    this.#slots[index]!.cached = shared.length;
    this.#slots[index]!.shareable = shared.length;
    this.#decoder.fork(shared.from, index, shared.length);
  }

  /** As many of the slots as the token budget allows, longest first to keep padding small. */
  #fitting(leaders: readonly Leader[]): Leader[] {
    const length = ({ slot }: Leader) => nextEnd(this.#slots[slot]!) - this.#slots[slot]!.cached;
    const order = leaders.toSorted((a, b) => length(b) - length(a) || a.slot - b.slot);
    const count = Math.max(1, Math.floor(this.#tokenBudget / length(order[0]!)));
    return order.slice(0, count).sort((a, b) => a.slot - b.slot);
  }

  #append(index: number, token: number, logprob: number): void {
    const slot = this.#slots[index]!;
    const pending = slot.request!;
    pending.sampled.push(token);
    pending.logprobs.push(logprob);
    slot.tokens.push(token);
    const stopped = pending.stopTokens.includes(token) || pending.stopsAt?.(pending.sampled) === true;
    if (!stopped && pending.sampled.length < pending.maxTokens) {
      const refusal = refusalOf(pending, token);
      if (!refusal) return;
      pending.reject(refusal.error);
    }
    slot.request = undefined;
    if (!slot.owner) this.#truncate(index, 0);
    else if (!this.#isBusy(slot.owner.episodeId)) this.#away.add(slot.owner.episodeId);
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

/** The error of the request's limit if no token may follow. It concerns no other request. */
function refusalOf({ limit }: Pending, token: number): { error: unknown } | undefined {
  try {
    limit?.accept(token);
    return undefined;
  } catch (error) {
    return { error };
  }
}

/** Whether the slot holds the conversation of the request. */
function isOf({ owner }: Slot, { episodeId, conversation }: Pending): boolean {
  return episodeId !== undefined && owner?.episodeId === episodeId && owner.conversation === conversation;
}

function compare(a: string, b: string): number {
  return a < b ? -1 : a > b ? 1 : 0;
}

function nextTurnOfEventLoop(): Promise<void> {
  return new Promise((resolve) => setImmediate(resolve));
}
