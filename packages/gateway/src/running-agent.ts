/** RunningAgent: an agent while it runs, and the requests that it sends. */
import { setMaxListeners } from 'node:events';
import { type Action, type Message, messageOf, ToolEnvError, turnMessage } from '@toolenv/core';
import { withinDeadline } from '@toolenv/core/tools';
import type { AgentContext } from './agent-episode.ts';
import type { Exchange } from './exchange.ts';
import { type Door, type Gateway, gatewayFailed } from './gateway.ts';
import { History, type Malformed, type Placed, type Turn } from './history.ts';
import type { BadRequest } from './wire/model-request.ts';

/** A request that waits for the policy. */
interface Current {
  readonly placed: Placed;
  /** Another if the client left and asked again. */
  exchange: Exchange;
}

/** Milliseconds that an agent may take to return after its episode: a little more than a program has until it is killed. */
const patience = 6000;

export class RunningAgent {
  readonly history: History;
  readonly #gateway: Gateway;
  readonly #door: Door;
  readonly #leave: AbortController = new AbortController();
  /** Requests in the order of their arrival. */
  #waiting: Exchange[] = [];
  #current: Current | undefined;
  #wake: () => void = () => {};
  #end: { result: unknown } | { error: unknown } | undefined;
  #refusal: BadRequest | undefined;
  #fault: ToolEnvError | undefined;
  #hasHeard = false;
  #ended: Promise<void> = Promise.resolve();

  constructor(gateway: Gateway, malformed: Malformed) {
    this.history = new History(malformed);
    this.#gateway = gateway;
    setMaxListeners(0, this.#leave.signal);
    this.#door = gateway.admit({
      arrive: (exchange) => this.#arrive(exchange),
      refused: (why) => {
        this.#refusal = why;
      },
      failed: (why) => this.#fail(why),
    });
  }

  /** What the agent returned; `undefined` while it runs and if it threw. */
  get result(): unknown {
    return this.#end && 'result' in this.#end ? this.#end.result : undefined;
  }

  get failure(): { error: unknown } | undefined {
    return this.#end && 'error' in this.#end ? this.#end : undefined;
  }

  /** Set if the last request asked for what the policy does not have. */
  get refusal(): BadRequest | undefined {
    return this.#refusal;
  }

  /** Whether an answer has reached the agent. */
  get hasHeard(): boolean {
    return this.#hasHeard;
  }

  start(run: (door: Pick<AgentContext, 'baseURL' | 'apiKey' | 'signal'>) => unknown): void {
    const { signal } = this.#leave;
    const door = { baseURL: `${this.#gateway.origin}/v1`, apiKey: this.#door.key, signal };
    this.#ended = (async () => run(door))().then(
      (result) => this.#finish({ result }),
      (error) => this.#finish({ error }),
    );
  }

  /**
   * The next request that the policy has to answer, `undefined` when the agent has ended, or `late`. The agent's time runs while it has no
   * request.
   * @throws ToolEnvError `infrastructure.gateway` once the gateway has failed.
   */
  async next({
    after,
    signal,
  }: {
    after: number;
    signal: AbortSignal | undefined;
  }): Promise<Placed | 'late' | undefined> {
    const end = performance.now() + after;
    for (;;) {
      signal?.throwIfAborted();
      if (this.#fault) throw this.#fault;
      const placed = await this.#take();
      if (placed) return placed;
      if (this.#waiting.length > 0) continue;
      if (this.#end) return undefined;
      const left = end - performance.now();
      if (left <= 0) return 'late';
      await this.#arrival(left, signal);
    }
  }

  /** The request that waits for the policy. */
  get waiting(): Placed {
    return this.#current!.placed;
  }

  /** Replies to an action in the place of the agent, whose request goes on waiting. */
  correct(
    action: Action,
    replies: readonly Message[],
  ): { turn: Pick<Turn, 'observation' | 'message' | 'isDelivered'>; next: Placed } {
    const { placed, exchange } = this.#current!;
    const message = turnMessage(action);
    const messages = [...placed.observation.messages, message, ...replies];
    const next = { ...placed, observation: { ...placed.observation, messages } };
    this.#current = { placed: next, exchange };
    return { turn: { observation: placed.observation, message, isDelivered: true }, next };
  }

  /** Answers the request that waits. Throws as {@link next} does. */
  async answer(action: Action): Promise<Turn> {
    if (this.#fault) throw this.#fault;
    const { placed, exchange } = this.#current!;
    const turn = this.history.add(placed, action);
    // A client that left may have asked again in the meantime.
    this.#current = undefined;
    await this.#deliver(turn, exchange);
    return turn;
  }

  /** Ends the episode for the agent: its signal aborts, and its requests are refused. */
  dismiss(): void {
    this.#door.close();
    for (const exchange of [...this.#waiting, ...(this.#current ? [this.#current.exchange] : [])])
      exchange.refuse({ status: 400, message: 'The episode has ended.' });
    this.#waiting = [];
    this.#current = undefined;
    this.#leave.abort();
  }

  /** Waits for a dismissed agent to return. An agent that does not heed its signal is left behind. */
  async leave(): Promise<void> {
    const late = { after: patience, reason: () => undefined };
    await withinDeadline(late, () => this.#ended).catch(() => {});
  }

  #arrive(exchange: Exchange): void {
    // The agent has found another way.
    this.#refusal = undefined;
    const current = this.#current;
    if (current?.exchange.isGone && this.history.digests(exchange.request).at(-1) === current.placed.digest) {
      current.exchange = exchange;
      this.history.count('retry');
      return;
    }
    this.#waiting.push(exchange);
    this.#wake();
  }

  /** Takes the next request of a client that is still there. A request whose answer was lost gets that answer. */
  async #take(): Promise<Placed | undefined> {
    const exchange = this.#waiting.shift();
    if (!exchange || exchange.isGone) return undefined;
    const digests = this.history.digests(exchange.request);
    const turn = this.history.answerTo(digests.at(-1)!);
    if (turn && (exchange.isRetry || !turn.isDelivered)) {
      this.history.count('retry');
      await this.#deliver(turn, exchange);
      return undefined;
    }
    const placed = this.history.place(exchange.request, digests);
    this.#current = { placed, exchange };
    return placed;
  }

  async #deliver(turn: Turn, exchange: Exchange): Promise<void> {
    const answered = exchange.answer(turn.served).catch((error: unknown) => {
      exchange.refuse(gatewayFailed);
      throw this.#fail(error);
    });
    if (!(await answered)) return;
    this.#hasHeard = true;
    this.history.delivered(turn);
  }

  #fail(cause: unknown): ToolEnvError {
    const message = `The gateway failed: ${messageOf(cause)}`;
    this.#fault = new ToolEnvError('infrastructure.gateway', message, { cause });
    this.#wake();
    return this.#fault;
  }

  #finish(end: { result: unknown } | { error: unknown }): void {
    this.#end = end;
    this.#wake();
  }

  /** Waits for a request or the end of the agent. */
  #arrival(milliseconds: number, signal: AbortSignal | undefined): Promise<void> {
    return new Promise((resolve) => {
      const done = () => {
        clearTimeout(timer);
        signal?.removeEventListener('abort', done);
        resolve();
      };
      const timer = setTimeout(done, milliseconds);
      signal?.addEventListener('abort', done, { once: true });
      this.#wake = done;
    });
  }
}
