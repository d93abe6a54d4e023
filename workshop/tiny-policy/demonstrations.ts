/** Supervised rows from demonstrators. The world changes often, so that the model cannot memorise entities. */
import { collect, createRng, deriveSeed, openEnv, rollout } from '@toolenv/core';
import type { TokenRow } from '@toolenv/core/learner';
import { createWorld, type QaRecord } from '@toolenv/envs-qa';
import type { Chat } from '@toolenv/policy';
import { toTrainingRows } from '@toolenv/training';
import { demonstrator } from './demonstrator.ts';
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

/** Endless rows, one for each episode. */
export async function* demonstrations(
  chat: Chat,
  { ref, topK, mix, seed }: DemonstrationsOptions,
): AsyncGenerator<TokenRow, never, void> {
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
    const policy = demonstrator(chat, { records, entities }, mix);
    const sampling = { maxTokens: 256, temperature: 1 };
    const played = rollout({ env, policy, episodes, concurrency: 64, sampling, seed });
    const rows = (await collect(played)).flatMap(toTrainingRows);
    await env.close();
    yield* rng.shuffle(rows);
  }
}
