/** demonstrator: a Policy that plays strategies in the tiny policy's format, for supervised training rows. */
import {
  type Action,
  createRng,
  type Message,
  type Observation,
  type Policy,
  type SamplingOptions,
} from '@toolenv/core';
import type { Entity, QaRecord } from '@toolenv/envs-qa';
import type { Chat, Turn } from '@toolenv/policy';
import { planOf } from './plan.ts';
import { drawStrategy, type Mix, type Move } from './strategies.ts';

/** What a demonstrator knows about a world. */
export interface Knowledge {
  /** Records by the text of their question. */
  records: ReadonlyMap<string, QaRecord>;
  /** Entities by name. */
  entities: ReadonlyMap<string, Entity>;
}

/** Plays `mix`. Its actions have tokens, so that rollouts become training rows. */
export function demonstrator(chat: Chat, { records, entities }: Knowledge, mix: Mix): Policy {
  const episodes = new Map<string, { moves: Generator<Move, void, string>; turn?: Turn }>();
  return {
    spec: { name: 'demonstrator', contextLength: Number.MAX_SAFE_INTEGER },
    async act(observation: Observation, { episodeId = '', seed }: SamplingOptions): Promise<Action> {
      let episode = episodes.get(episodeId);
      if (!episode) {
        const rng = createRng(seed, 'strategy');
        const record = records.get(questionOf(observation))!;
        episode = { moves: drawStrategy(mix, rng)(record, planOf(record, entities), rng) };
        episodes.set(episodeId, episode);
      }
      const { value: move } = episode.moves.next(observation.messages.at(-1)!.content);
      const raw = write(move!);
      const written = chat.encode(raw);
      const action = Int32Array.from([...written, chat.endTokens[0]!]);
      const prompt =
        (episode.turn && chat.continuation(episode.turn, observation)) ?? chat.prompt(observation);
      const { text, toolCalls } = chat.parse(raw);
      episode.turn = { observation, prompt, action, text };
      const tokens = { prompt, action, logprobs: new Float32Array(action.length) };
      return { text, toolCalls, stopReason: toolCalls.length > 0 ? 'tool_call' : 'stop', tokens };
    },
    endEpisode: (episodeId) => void episodes.delete(episodeId),
  };
}

function questionOf({ messages }: Observation): string {
  return messages.find(({ role }: Message) => role === 'user')!.content;
}

/** A turn in the format of the tiny policy. */
export function write({ think = '', ...move }: Move): string {
  if ('answer' in move) return `${think}<answer>${move.answer}</answer>`;
  return `${think}<tool_call>{"name": "search", "arguments": {"query": ${JSON.stringify(move.search)}}}</tool_call>`;
}
