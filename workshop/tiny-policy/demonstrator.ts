/** demonstrator: a Policy that plays strategies, for demonstrations. */
import {
  type Action,
  createRng,
  type Message,
  type Observation,
  type Policy,
  type SamplingOptions,
  type Split,
} from '@toolenv/core';
import { createWorld, type Entity, type QaRecord } from '@toolenv/envs-qa';
import { planOf } from './plan.ts';
import { drawStrategy, type Mix, type Move } from './strategies.ts';

/** What a demonstrator knows about a world. */
export interface Knowledge {
  /** Records by the text of their question. */
  records: ReadonlyMap<string, QaRecord>;
  /** Entities by name. */
  entities: ReadonlyMap<string, Entity>;
}

/** What there is to know about some questions of a split of a world. */
export function knowledgeOf(worldSeed: number, split: Split, records: readonly QaRecord[]): Knowledge {
  const { entities } = createWorld(worldSeed).parts[split];
  return {
    records: new Map(records.map((record) => [record.question, record])),
    entities: new Map(entities.map((entity) => [entity.name, entity])),
  };
}

/** Plays `mix`, and repeats a search that returned nothing. */
export function demonstrator({ records, entities }: Knowledge, mix: Mix): Policy {
  const episodes = new Map<string, Generator<Move, void, string>>();
  return {
    spec: { name: 'demonstrator', contextLength: Number.MAX_SAFE_INTEGER },
    async act(observation: Observation, { episodeId = '', seed }: SamplingOptions): Promise<Action> {
      const again = repeatedSearch(observation);
      if (again) return again;
      let moves = episodes.get(episodeId);
      if (!moves) {
        const rng = createRng(seed, 'strategy');
        const record = records.get(questionOf(observation))!;
        moves = drawStrategy(mix, rng)(record, planOf(record, entities), rng);
        episodes.set(episodeId, moves);
      }
      const { value: move } = moves.next(observation.messages.at(-1)!.content);
      return actionOf(move!, observation.messages.length);
    },
    endEpisode: (episodeId) => void episodes.delete(episodeId),
  };
}

/** The last turn once more, if its search returned nothing. */
function repeatedSearch({ messages }: Observation): Action | undefined {
  const [asked, reply] = messages.slice(-2);
  if (reply?.role !== 'tool' || reply.content !== '' || asked?.role !== 'assistant') return undefined;
  const toolCalls = asked.toolCalls!.map((call) => ({ ...call, id: `call-${messages.length}` }));
  return { text: '', toolCalls, stopReason: 'tool_call' };
}

/** @param turn Makes the id of a call unique. */
function actionOf({ think = '', ...move }: Move, turn: number): Action {
  if ('answer' in move) return { text: write({ think, ...move }), toolCalls: [], stopReason: 'stop' };
  const call = { id: `call-${turn}`, name: 'search', arguments: { query: move.search } };
  return { text: think, toolCalls: [call], stopReason: 'tool_call' };
}

function questionOf({ messages }: Observation): string {
  return messages.find(({ role }: Message) => role === 'user')!.content;
}

/** A turn in the format of the tiny policy. */
export function write({ think = '', ...move }: Move): string {
  if ('answer' in move) return `${think}<answer>${move.answer}</answer>`;
  return `${think}<tool_call>{"name": "search", "arguments": {"query": ${JSON.stringify(move.search)}}}</tool_call>`;
}
