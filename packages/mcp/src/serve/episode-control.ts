/**
 * EpisodeControl: the orchestrator's side of an environment over HTTP. It opens episodes, chooses their tasks and reads their
 * rewards. An agent gets the URL of one episode, which allows none of this.
 */
import type { ServerResponse } from 'node:http';
import { isInfrastructure, type JsonSchema } from '@toolenv/core';
import { validate } from '@toolenv/core/schemas';
import { replyJson } from '@toolenv/serving';
import { sessionView } from './agent-server.ts';
import { answerName, type EnvSession, type SessionSource } from './env-session.ts';
import type { HttpSession } from './http-session.ts';
import { ModernEndpoint } from './modern-endpoint.ts';
import { OpenEpisodes } from './open-episodes.ts';

const wantedSchema: JsonSchema = {
  type: 'object',
  properties: { task: { type: 'integer', minimum: 0 }, seed: { type: 'integer', minimum: 0 } },
  additionalProperties: false,
};

const answerSchema: JsonSchema = {
  type: 'object',
  properties: { answer: { type: 'string' } },
  required: ['answer'],
  additionalProperties: false,
};

/** An episode that the orchestrator has opened. */
export interface ControlledEpisode {
  session: EnvSession;
  /** The client with a session that plays it. A client that connects again takes its place. */
  player?: HttpSession;
  /** Answers clients without a session. */
  modern?: ModernEndpoint;
}

interface Hooks {
  /** Whether there is room for another episode. */
  hasRoom(): boolean;
  /**
   * URL of the episode for its agent.
   * @param host The host that the orchestrator has named.
   */
  urlOf(session: EnvSession, host: string | undefined): string;
  /** Milliseconds without a player after which an episode ends. */
  idleTimeout: number;
}

export class EpisodeControl {
  readonly episodes: OpenEpisodes<ControlledEpisode>;
  readonly #source: SessionSource;
  readonly #hooks: Hooks;

  constructor(source: SessionSource, hooks: Hooks) {
    this.#source = source;
    this.#hooks = hooks;
    this.episodes = new OpenEpisodes({
      idleTimeout: hooks.idleTimeout,
      onError: source.onError,
      async end({ session, player, modern }) {
        // Ending its clients aborts the turn in progress.
        await Promise.all([player?.end(), modern?.close()]);
        await session.close();
      },
    });
  }

  /** Makes a client the player of an episode. */
  async seat(episode: ControlledEpisode, player: HttpSession): Promise<void> {
    const { player: last } = episode;
    episode.player = player;
    player.closed.finally(this.episodes.hold(episode));
    await last?.end();
  }

  /** What answers the clients of an episode that have no session. */
  modernOf(episode: ControlledEpisode): ModernEndpoint {
    if (!episode.modern) {
      const modern = new ModernEndpoint(sessionView(episode.session), this.#source);
      episode.session.toolsChanged.add(() => modern.notifyToolsChanged());
      episode.modern = modern;
    }
    return episode.modern;
  }

  /** @param id The episode in the path; absent to open an episode. */
  async answer(
    method: string,
    id: string | undefined,
    body: unknown,
    response: ServerResponse,
  ): Promise<void> {
    if (id === undefined) {
      if (method !== 'POST') return replyJson(response, 405, { error: 'POST opens an episode.' });
      return this.#open(body ?? {}, response);
    }
    const episode = this.episodes.find(id);
    if (!episode) return replyJson(response, 404, { error: 'There is no such episode, or it was ended.' });
    if (method === 'GET') return replyJson(response, 200, episode.session.score!);
    if (method === 'POST') return this.#answerFor(episode, body ?? {}, response);
    if (method !== 'DELETE')
      return replyJson(response, 405, {
        error: 'GET reads an episode, POST answers for its agent, DELETE ends it.',
      });
    await this.episodes.end(episode);
    replyJson(response, 200, episode.session.score!);
  }

  /** Answers for an agent that has said its answer instead of calling a tool. An episode that has ended stays as it is. */
  async #answerFor({ session }: ControlledEpisode, body: unknown, response: ServerResponse): Promise<void> {
    const [wrong] = validate(answerSchema, body);
    if (wrong) return replyJson(response, 400, { error: refusal(wrong) });
    const leave = new AbortController();
    response.once('close', () => leave.abort());
    const { answer: text } = body as { answer: string };
    if (session.isRunning) await session.call(answerName, { text }, { signal: leave.signal });
    replyJson(response, 200, session.score!);
  }

  async #open(wanted: unknown, response: ServerResponse): Promise<void> {
    const [wrong] = validate(wantedSchema, wanted);
    if (wrong) return replyJson(response, 400, { error: refusal(wrong) });
    if (!this.#hooks.hasRoom()) {
      return replyJson(response, 503, { error: 'All places are taken (maxSessions): end an episode first.' });
    }
    const session = this.#source.open(wanted as { task?: number; seed?: number });
    const { task } = wanted as { task?: number };
    // Before anything is awaited, so that no other request takes the place.
    this.episodes.add({ session });
    try {
      const count = await session.taskCount;
      if (task !== undefined && task >= count) {
        await this.episodes.end({ session });
        return replyJson(response, 400, { error: `There is no task ${task}: choose one below ${count}.` });
      }
      const leave = new AbortController();
      response.once('close', () => leave.abort());
      const { seed, observation, ...begun } = await session.begin(leave.signal);
      const { messages } = observation;
      const url = this.#hooks.urlOf(session, response.req.headers.host);
      replyJson(response, 201, { episode: session.id, url, task: begun.task, seed, messages });
    } catch (error) {
      await this.episodes.end({ session });
      if (!isInfrastructure(error)) throw error;
      replyJson(response, 502, { error: error.message, code: error.code });
    }
  }
}

function refusal({ path, expected, received }: ReturnType<typeof validate>[number]): string {
  return `${path || 'The body'}: expected ${expected}; received ${received}.`;
}
