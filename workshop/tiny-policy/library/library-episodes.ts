/** libraryEpisodes: conversations in which the players of the library play. */
import { createRng, deriveSeed, playTask, type Rng } from '@toolenv/core';
import { conversationOf } from '../demonstrations.ts';
import type { Conversation } from '../lines.ts';
import { drawName } from './draw-symbol.ts';
import { isLeftOut } from './goals.ts';
import { type LibraryName, library } from './library.ts';
import { type LibraryPlayer, openLibraryEnv } from './player.ts';

export interface LibraryEpisodesOptions {
  name: LibraryName;
  seed: number;
  /** Whether players are hasty. Default: no. */
  isHasty?: boolean;
}

/** Endless conversations about training tasks whose goals are not left out. */
export async function* libraryEpisodes({
  name,
  seed,
  isHasty = false,
}: LibraryEpisodesOptions): AsyncGenerator<Conversation, never, void> {
  const player: LibraryPlayer<unknown> = library[name];
  await using env = await openLibraryEnv(player, deriveSeed(seed, 'tasks'));
  const { train } = env.tasks;
  const count = await train.length;
  for (let number = 0; ; number++) {
    const rng = createRng(seed, name, number);
    const task = await train.get(rng.int(count));
    if (isLeftOut(player.goal(task))) continue;
    const script = player.play(task, rng, isHasty);
    const played = conversationOf(await playTask(env, task, script, { seed: number }));
    yield renamed(played, player.people?.(task) ?? [], rng);
  }
}

/** Gives people other names, because a model would learn the few names of the training tasks by heart instead of copying them. */
function renamed(conversation: Conversation, people: readonly string[], rng: Rng): Conversation {
  let text = JSON.stringify(conversation.messages);
  for (const name of new Set(people)) text = text.replaceAll(new RegExp(`\\b${name}\\b`, 'g'), drawName(rng));
  return { ...conversation, messages: JSON.parse(text) };
}
