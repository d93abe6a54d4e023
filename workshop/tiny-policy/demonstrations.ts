/** Demonstrations: conversations in which demonstrators play. The world changes often, so that the model cannot memorise entities. */
import {
  collect,
  createRng,
  deriveSeed,
  type EnvHandle,
  isParseFailure,
  rollout,
  type Trajectory,
} from '@toolenv/core';
import type { QaRecord } from '@toolenv/envs-qa';
import { demonstrator, knowledgeOf } from './demonstrator.ts';
import { type Family, openFamily } from './families.ts';
import { isLeftOut, questionGoal } from './library/goals.ts';
import type { Conversation } from './lines.ts';
import type { Mix } from './strategies.ts';

export interface DemonstrationsOptions {
  family: Family;
  mix: Mix;
  /** Turns of an episode. Default: those of the family. */
  maxTurns?: number;
  /** Whether some sorts of questions are left out. */
  leavesOut?: boolean;
  /** Default 3200. */
  episodesPerWorld?: number;
  seed: number;
}

/** Endless conversations, one for each episode. */
export async function* demonstrations({
  family,
  mix,
  maxTurns,
  leavesOut = false,
  episodesPerWorld = 3200,
  seed,
}: DemonstrationsOptions): AsyncGenerator<Conversation, never, void> {
  for (let world = 0; ; world++) {
    const rng = createRng(seed, 'tasks', world);
    const worldSeed = deriveSeed(seed, 'world', world);
    const env = await openFamily(family, worldSeed, { maxTurns });
    const { train } = env.tasks;
    const count = await train.length;
    const drawn = await Promise.all(
      Array.from({ length: episodesPerWorld }, () => train.get(rng.int(count))),
    );
    const tasks = leavesOut ? drawn.filter((task) => !isLeftOut(questionGoal(task as QaRecord))) : drawn;
    const conversations = await demonstrate({ env, worldSeed, tasks }, mix, seed);
    await env.close();
    yield* rng.shuffle(conversations);
  }
}

/** An environment of `@toolenv/envs-qa`, opened with the seed of its world, and training tasks of it. */
export interface Lesson {
  env: EnvHandle<unknown>;
  worldSeed: number;
  tasks: readonly unknown[];
}

/** One conversation for each of the tasks. */
export async function demonstrate(
  { env, worldSeed, tasks }: Lesson,
  mix: Mix,
  seed: number,
): Promise<Conversation[]> {
  const episodes = tasks.map((task, group) => ({ task, group, sample: 0 }));
  const policy = demonstrator(knowledgeOf(worldSeed, 'train', tasks as QaRecord[]), mix);
  const sampling = { maxTokens: 256, temperature: 1 };
  const played = await collect(rollout({ env, policy, episodes, concurrency: 64, sampling, seed }));
  return played.map(conversationOf);
}

/** The whole conversation, with the last turn. */
export function conversationOf({ steps }: Trajectory): Conversation {
  const { observation, action } = steps.at(-1)!;
  const toolCalls = action.toolCalls.flatMap((call) => (isParseFailure(call) ? [] : [call]));
  const last = {
    role: 'assistant' as const,
    content: action.text,
    ...(toolCalls.length > 0 && { toolCalls }),
  };
  return { messages: [...observation.messages, last], tools: observation.tools };
}
