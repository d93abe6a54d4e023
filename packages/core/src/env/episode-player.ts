/** EpisodePlayer: a player in an episode: its conversation, and its turns by whoever plays it. */
import type { Action } from '../protocol/action.ts';
import type { ToolCallRecord } from '../protocol/env.ts';
import { ToolEnvError } from '../protocol/errors.ts';
import type { Message, Observation } from '../protocol/message.ts';
import { deriveSeed } from '../protocol/rng.ts';
import type { Tool } from '../protocol/tool.ts';
import type { EpisodeContext } from './episode.ts';
import type { PlayerBinding } from './open-players.ts';
import type { Player, PlayerAnswer } from './player.ts';
import type { PlayedTurn } from './player-tool.ts';
import { toAction } from './scripted-policy.ts';
import { messagesOf, observationOf, toMessages } from './turn-messages.ts';
import type { TurnRendezvous } from './turn-rendezvous.ts';

/** What a player needs of its episode. */
export interface PlayersEpisode extends Pick<EpisodeContext, 'limits' | 'call'> {
  readonly seed: number;
  readonly rendezvous: TurnRendezvous;
  /** Whether calls of the first player run. */
  readonly isCalling: boolean;
  runOf(
    who: 'policy' | 'environment',
    calls: Action['toolCalls'],
    tools: readonly Tool[],
  ): Promise<ToolCallRecord[]>;
}

export class EpisodePlayer implements Player {
  conversation: Message[] = [];
  readonly #name: string;
  readonly #seat: PlayerBinding;
  readonly #episode: PlayersEpisode;
  #turns = 0;
  #isAsked = false;

  constructor(name: string, seat: PlayerBinding, episode: PlayersEpisode) {
    this.#name = name;
    this.#seat = seat;
    this.#episode = episode;
  }

  async ask(
    said: string | readonly Message[],
    { tools = [] }: { tools?: readonly Tool[] } = {},
  ): Promise<PlayerAnswer> {
    this.#expectAsk();
    this.#isAsked = true;
    try {
      this.conversation.push(...toMessages(said));
      for (let asked = 1; ; asked++) {
        const { action, calls } = await this.#turn(tools);
        if (calls.length === 0) return { text: action.text, isCutOff: action.stopReason === 'length' };
        if (asked >= this.#episode.limits.maxTurns) return { text: '', isCutOff: true };
      }
    } finally {
      this.#isAsked = false;
    }
  }

  /** @throws ToolEnvError `bug.environment` where an answer would come too late, or belong to another question. */
  #expectAsk(): void {
    const wrong = (problem: string) =>
      new ToolEnvError('bug.environment', `The player "${this.#name}" is asked ${problem}.`);
    if (this.#isAsked) throw wrong('while it has to answer: await its first answer, then ask again');
    if (this.#seat.kind !== 'self' || !this.#episode.isCalling) return;
    const remedy = 'ask it in a hook such as onToolResults, or let a script or another policy play it';
    throw wrong(`by a tool, but the policy plays it too, and waits for the tool: ${remedy}`);
  }

  async #turn(tools: readonly Tool[]): Promise<{ action: Action; calls: ToolCallRecord[] }> {
    const { rendezvous } = this.#episode;
    const observation = { ...observationOf(this.conversation, tools), conversation: this.#name };
    const take = async (action: Action) => ({ action, calls: await this.#take(action, tools) });
    if (this.#seat.kind === 'self') return rendezvous.ask(this.#name, observation, take);
    return rendezvous.during(async () => take(await this.#act(observation)));
  }

  /** A turn of somebody other than the policy. */
  async #act(observation: Observation): Promise<Action> {
    const turn = this.#turns++;
    const seat = this.#seat as Exclude<PlayerBinding, { kind: 'self' }>;
    const episode = this.#episode;
    if (seat.kind === 'script') return toAction(await seat.script(episode as never, observation), turn);
    const { messages, tools } = observation;
    const { maxTokens, temperature } = seat;
    const seed = deriveSeed(episode.seed, 'player', this.#name, turn);
    const { result } = await episode.call(seat.tool, { messages, tools, seed, maxTokens, temperature });
    return result.structuredContent as PlayedTurn;
  }

  /** Runs the calls of a turn. Those of the policy itself belong to its step; those of others are calls of the environment. */
  async #take(action: Action, tools: readonly Tool[]): Promise<ToolCallRecord[]> {
    const isCutOff = action.stopReason === 'length';
    const who = this.#seat.kind === 'self' ? 'policy' : 'environment';
    const calls = await this.#episode.runOf(who, isCutOff ? [] : action.toolCalls, tools);
    this.conversation.push(...messagesOf(action, calls));
    return calls;
  }
}
