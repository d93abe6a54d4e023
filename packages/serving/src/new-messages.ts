/** newMessages: what a turn has added to a conversation, for clients that keep the conversation themselves. */
import type { Message } from '@toolenv/core';

/** The messages after the policy's turn; all messages if the environment has rewritten the conversation. */
export function newMessages(
  before: readonly Message[],
  now: readonly Message[],
): [messages: readonly Message[], isRewritten: boolean] {
  const kept = before.every((message, index) => isSame(message, now[index]));
  if (!kept) return [now, true];
  const added = now.slice(before.length);
  return [added[0]?.role === 'assistant' ? added.slice(1) : added, false];
}

function isSame(a: Message, b: Message | undefined): boolean {
  return a === b || (a.role === b?.role && a.content === b.content);
}
