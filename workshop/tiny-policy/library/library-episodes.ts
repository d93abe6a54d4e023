/** libraryEpisodes: conversations in which the players of the library play. */
import { createRng, deriveSeed, openEnv, playTask, type Rng } from '@toolenv/core';
import { conversationOf } from '../demonstrations.ts';
import type { Conversation } from '../lines.ts';
import { drawName } from './draw-symbol.ts';
import { isLeftOut } from './goals.ts';
import { type LibraryName, library } from './library.ts';
import type { LibraryPlayer } from './player.ts';

export interface LibraryEpisodesOptions {
  name: LibraryName;
  /** Share of careless episodes. */
  careless: number;
  seed: number;
}

/** Endless conversations about training tasks whose goals are not left out. */
export async function* libraryEpisodes({
  name,
  careless,
  seed,
}: LibraryEpisodesOptions): AsyncGenerator<Conversation, never, void> {
  const player: LibraryPlayer<unknown> = library[name];
  await using env = await openEnv(player.ref, player.options, { seed: deriveSeed(seed, 'tasks') });
  const { train } = env.tasks;
  const count = await train.length;
  for (let number = 0; ; number++) {
    const rng = createRng(seed, name, number);
    const task = await train.get(rng.int(count));
    if (isLeftOut(player.goal(task))) continue;
    const script = player.play(task, rng.float() < careless, rng);
    const played = conversationOf(await playTask(env, task, script, { seed: number }));
    yield withoutIdling(renamed(played, player.people?.(task) ?? [], rng));
  }
}

/** Gives people other names, because a model would learn the few names of the training tasks by heart instead of copying them. */
function renamed(conversation: Conversation, people: readonly string[], rng: Rng): Conversation {
  let text = JSON.stringify(conversation.messages);
  for (const name of new Set(people)) text = text.replaceAll(new RegExp(`\\b${name}\\b`, 'g'), drawName(rng));
  return { ...conversation, messages: JSON.parse(text) };
}

/** Cuts the end, in which a careless player only repeats itself. */
function withoutIdling({ messages, tools }: Conversation): Conversation {
  const isSame = (index: number) =>
    messages[index]?.role === 'assistant' &&
    !messages[index].toolCalls &&
    messages[index].content === messages[index - 2]?.content;
  let end = messages.length;
  while (isSame(end - 1)) end -= 2;
  return { messages: messages.slice(0, end), tools };
}
