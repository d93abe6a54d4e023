/** ReplayedTurns: a policy that answers from a recording, exactly, and fails when it is asked for anything else. */
import { untilAborted } from '../boundary/deadline.ts';
import type { Action } from '../protocol/action.ts';
import { excerpt } from '../protocol/excerpt.ts';
import type { Observation } from '../protocol/message.ts';
import type { PolicySpec, SamplingOptions } from '../protocol/policy.ts';
import { describeDifferences, differences } from './json-difference.ts';
import { restoreAction } from './plain-action.ts';
import type { RecordablePolicy } from './run-tap.ts';
import { divergence, rethrow } from './tool-recording.ts';
import { type RecordedTurn, requestOf, type TurnKey, Turns } from './turn-recording.ts';

/** What a reply from a recording has asked for. */
const free = { requests: 0, inputTokens: 0, cachedTokens: 0, outputTokens: 0, cost: 0 };

export class ReplayedTurns {
  readonly #file: string;
  readonly #turns: Map<string, RecordedTurn> = new Map();
  readonly #made = new Set<RecordedTurn>();

  /** @param file Named in errors. */
  constructor(file: string) {
    this.#file = file;
  }

  add(turn: RecordedTurn): void {
    this.#turns.set(nameOf(turn), turn);
  }

  /** No server is behind it, and it costs nothing. */
  policy(spec: PolicySpec): RecordablePolicy {
    const turns = new Turns();
    const made = this.#made;
    return {
      spec,
      act: async (observation, options) => {
        const begun = performance.now();
        options.signal?.throwIfAborted();
        const action = await this.#answer(turns.next(options), observation, options);
        return { ...action, usage: { ...free, cachedReplies: 1, milliseconds: performance.now() - begun } };
      },
      endEpisode: (episodeId) => turns.end(episodeId),
      get usage() {
        return { ...free, retries: 0, cachedReplies: made.size };
      },
    };
  }

  /** A line for each recorded turn that was not made. */
  get missing(): string[] {
    return [...this.#turns.values()]
      .filter((turn) => !this.#made.has(turn))
      .map((turn) => `${describeKey(turn)}: ${lastMessage(turn.request)}`);
  }

  async #answer(key: TurnKey, observation: Observation, options: SamplingOptions): Promise<Action> {
    const recorded = this.#turns.get(nameOf(key));
    const asked = requestOf(observation, options);
    const where = `${this.#file}: ${describeKey(key)}`;
    if (!recorded) throw divergence(where, `recorded nothing, now ${lastMessage(asked)}`);
    const found = differences(recorded.request, asked);
    if (found.length > 0) throw divergence(where, `another request:\n${describeDifferences(found)}`);
    this.#made.add(recorded);
    const { action, error } = recorded;
    if (action) return restoreAction(action);
    if (error) rethrow(error);
    return untilAborted(options.signal, () => new Promise(() => {}));
  }
}

function nameOf({ episode, take, conversation, turn }: TurnKey): string {
  return JSON.stringify([episode, take, conversation, turn]);
}

function describeKey({ episode, take, conversation, turn }: TurnKey): string {
  const named = conversation === undefined ? '' : `, conversation ${conversation}`;
  return `episode ${episode}${take > 0 ? `, take ${take}` : ''}${named}, turn ${turn}`;
}

/** The message that the turn answers. */
function lastMessage(request: unknown): string {
  const { messages } = Object(request);
  const { role, content } = Object(Array.isArray(messages) ? messages.at(-1) : undefined);
  return `an answer to ${role} ${excerpt(JSON.stringify(content ?? null))}`;
}
