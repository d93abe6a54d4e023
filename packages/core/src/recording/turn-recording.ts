/** The turns of a policy in a recording: what was asked, and what the policy said. */
import type { ErrorCode } from '../protocol/errors.ts';
import type { Observation } from '../protocol/message.ts';
import type { SamplingOptions } from '../protocol/policy.ts';
import type { PlainAction } from './plain-action.ts';
import { canonical } from './tool-recording.ts';

/** One turn and how it ended: an action, an error that the policy threw, or nothing because the caller gave up. */
export interface RecordedTurn extends TurnKey {
  /** The observation, and the sampling options that decide an action. Keys sorted. */
  request: unknown;
  action?: PlainAction;
  error?: { code?: ErrorCode; message: string };
  abandoned?: true;
}

/** Identifies a turn among concurrent turns. */
export interface TurnKey {
  episode: string;
  /** Episodes with the same id are takes 0, 1, … */
  take: number;
  /** `Observation.conversation`, if it has a name. */
  conversation?: string;
  /** The turn of the conversation, from 0. */
  turn: number;
}

/** Counts takes and turns. An episode that is played again begins another take. */
export class Turns {
  readonly #episodes: Map<string, { take: number; turns: Map<string | undefined, number> }> = new Map();

  /** The key of a turn; to be called at the very start of the turn. */
  next({ episodeId = '', conversation }: Pick<SamplingOptions, 'episodeId' | 'conversation'>): TurnKey {
    const episode = this.#episodes.get(episodeId) ?? { take: 0, turns: new Map() };
    this.#episodes.set(episodeId, episode);
    const turn = episode.turns.get(conversation) ?? 0;
    episode.turns.set(conversation, turn + 1);
    return {
      episode: episodeId,
      take: episode.take,
      ...(conversation !== undefined && { conversation }),
      turn,
    };
  }

  /** The episode is over. */
  end(episodeId: string): void {
    const episode = this.#episodes.get(episodeId);
    if (episode) this.#episodes.set(episodeId, { take: episode.take + 1, turns: new Map() });
  }
}

/** What decides an action, as JSON. */
export function requestOf(
  { messages, tools }: Observation,
  { maxTokens, temperature, topP, topK, minP, constrainCalls, stop, seed }: SamplingOptions,
): unknown {
  const sampling = { maxTokens, temperature, topP, topK, minP, constrainCalls, stop, seed };
  return canonical({ messages, tools, sampling });
}
