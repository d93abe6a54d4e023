/**
 * EpisodeControl: the orchestrator's side of an environment over HTTP. It opens episodes, chooses their tasks and reads their
 * rewards. An agent gets the URL of one episode, which allows none of this.
 */
import type { ServerResponse } from 'node:http';
import { isInfrastructure, type JsonSchema } from '@toolenv/core';
import { validate } from '@toolenv/core/schemas';
import type { EnvSession } from './env-session.ts';
import type { HttpSession } from './http-session.ts';

const wantedSchema: JsonSchema = {
  type: 'object',
  properties: { task: { type: 'integer', minimum: 0 }, seed: { type: 'integer', minimum: 0 } },
  additionalProperties: false,
};

/** An episode that the orchestrator has opened. */
export interface ControlledEpisode {
  session: EnvSession;
  /** The client that plays it. A client that connects again takes its place. */
  player?: HttpSession;
}

interface Hooks {
  open(wanted: { task?: number; seed?: number }): EnvSession;
  /** Whether there is room for another episode. */
  hasRoom(): boolean;
  /** URL of the episode for its agent. */
  urlOf(session: EnvSession): string;
  /** Milliseconds without a player after which an episode ends. */
  idleTimeout: number;
  onError(error: unknown): void;
}

export class EpisodeControl {
  readonly #episodes = new Map<string, ControlledEpisode>();
  readonly #timers = new Map<string, ReturnType<typeof setTimeout>>();
  readonly #hooks: Hooks;

  constructor(hooks: Hooks) {
    this.#hooks = hooks;
  }

  get size(): number {
    return this.#episodes.size;
  }

  find(id: string): ControlledEpisode | undefined {
    return this.#episodes.get(id);
  }

  /** Makes a client the player of an episode. */
  async seat(episode: ControlledEpisode, player: HttpSession): Promise<void> {
    const { player: last, session } = episode;
    episode.player = player;
    clearTimeout(this.#timers.get(session.id));
    await last?.end();
    player.closed.finally(() => {
      if (episode.player === player) this.#watch(session);
    });
  }

  /** @param id The episode in the path; absent to open an episode. */
  async answer(
    method: string,
    id: string | undefined,
    body: unknown,
    response: ServerResponse,
  ): Promise<void> {
    if (id === undefined) {
      if (method !== 'POST') return send(response, 405, { error: 'POST opens an episode.' });
      return this.#open(body ?? {}, response);
    }
    const episode = this.#episodes.get(id);
    if (!episode) return send(response, 404, { error: 'There is no such episode, or it was ended.' });
    if (method === 'GET') return send(response, 200, episode.session.score);
    if (method !== 'DELETE') return send(response, 405, { error: 'GET reads an episode, DELETE ends it.' });
    await this.#end(episode);
    send(response, 200, episode.session.score);
  }

  async close(): Promise<void> {
    await Promise.all([...this.#episodes.values()].map((episode) => this.#end(episode)));
  }

  async #open(wanted: unknown, response: ServerResponse): Promise<void> {
    const [wrong] = validate(wantedSchema, wanted);
    if (wrong) {
      const where = wrong.path || 'The body';
      return send(response, 400, {
        error: `${where}: expected ${wrong.expected}; received ${wrong.received}.`,
      });
    }
    if (!this.#hooks.hasRoom()) {
      return send(response, 503, { error: 'All places are taken (maxSessions): end an episode first.' });
    }
    const session = this.#hooks.open(wanted as { task?: number; seed?: number });
    const { task } = wanted as { task?: number };
    if (task !== undefined && task >= session.taskCount) {
      await session.close();
      return send(response, 400, {
        error: `There is no task ${task}: choose one below ${session.taskCount}.`,
      });
    }
    this.#episodes.set(session.id, { session });
    this.#watch(session);
    try {
      const leave = new AbortController();
      response.once('close', () => leave.abort());
      const { seed, observation, ...begun } = await session.inTurn(() => session.begin(leave.signal));
      const { messages } = observation;
      const url = this.#hooks.urlOf(session);
      send(response, 201, { episode: session.id, url, task: begun.task, seed, messages });
    } catch (error) {
      await this.#end({ session });
      if (!isInfrastructure(error)) throw error;
      send(response, 502, { error: error.message, code: error.code });
    }
  }

  async #end({ session, player }: ControlledEpisode): Promise<void> {
    this.#episodes.delete(session.id);
    clearTimeout(this.#timers.get(session.id));
    this.#timers.delete(session.id);
    // Ending the player aborts the turn in progress.
    await player?.end();
    await session.close();
  }

  /** Ends an episode that nobody plays. */
  #watch(session: EnvSession): void {
    const episode = this.#episodes.get(session.id);
    if (!episode) return;
    clearTimeout(this.#timers.get(session.id));
    const timer = setTimeout(() => this.#end(episode).catch(this.#hooks.onError), this.#hooks.idleTimeout);
    this.#timers.set(session.id, timer.unref());
  }
}

function send(response: ServerResponse, status: number, body: object | undefined): void {
  response.writeHead(status, { 'content-type': 'application/json' });
  response.end(JSON.stringify(body));
}
