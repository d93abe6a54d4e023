/** Demonstrations: conversations in which demonstrators play. The world changes often, so that the model cannot memorise entities. */
import {
  collect,
  createRng,
  deriveSeed,
  isParseFailure,
  openEnv,
  rollout,
  type Trajectory,
} from '@toolenv/core';
import { createWorld, type QaRecord } from '@toolenv/envs-qa';
import { demonstrator } from './demonstrator.ts';
import type { Conversation } from './lines.ts';
import type { Mix } from './strategies.ts';

/** Number of episodes in each world. */
const episodesPerWorld = 3200;

export interface DemonstrationsOptions {
  /** Reference of the environment. */
  ref: string;
  /** Number of documents in a search result. */
  topK: number;
  mix: Mix;
  seed: number;
}

/** Endless conversations, one for each episode. */
export async function* demonstrations({
  ref,
  topK,
  mix,
  seed,
}: DemonstrationsOptions): AsyncGenerator<Conversation, never, void> {
  for (let world = 0; ; world++) {
    const rng = createRng(seed, 'tasks', world);
    const worldSeed = deriveSeed(seed, 'world', world);
    const env = await openEnv(ref, { topK }, { seed: worldSeed });
    const records = new Map<string, QaRecord>();
    const episodes = Array.from({ length: episodesPerWorld }, (_, group) => {
      const task = env.tasks.train.get(rng.int(env.tasks.train.length)) as QaRecord;
      records.set(task.question, task);
      return { task, group, sample: 0 };
    });
    const entities = new Map(
      createWorld(worldSeed).parts.train.entities.map((entity) => [entity.name, entity]),
    );
    const policy = demonstrator({ records, entities }, mix);
    const sampling = { maxTokens: 256, temperature: 1 };
    const played = await collect(rollout({ env, policy, episodes, concurrency: 64, sampling, seed }));
    await env.close();
    yield* rng.shuffle(played.map(conversationOf));
  }
}

function conversationOf({ steps }: Trajectory): Conversation {
  const { observation, action } = steps.at(-1)!;
  const toolCalls = action.toolCalls.flatMap((call) => (isParseFailure(call) ? [] : [call]));
  const last = {
    role: 'assistant' as const,
    content: action.text,
    ...(toolCalls.length > 0 && { toolCalls }),
  };
  return { messages: [...observation.messages, last], tools: observation.tools };
}
