/** truncateHistory: removes the text of old tool results until the conversation is short enough. Keeps every turn. */
import { ToolEnvError } from '../protocol/errors.ts';
import type { Message } from '../protocol/message.ts';
import { transformObservation } from './transform-observation.ts';
import type { Wrappable, Wrapped } from './wrap.ts';

/**
 * Cuts tool results, oldest first, while the contents of all messages have more than `characters` characters. Results of
 * the last turn and all other messages stay, so a conversation may still be longer.
 * @throws ToolEnvError `usage.history` if `characters` is not above 0.
 */
export function truncateHistory<Inner extends Wrappable>(
  env: Inner,
  { characters }: { characters: number },
): Wrapped<Inner> {
  if (!(characters > 0)) {
    const message = `truncateHistory: characters is ${characters}: give a number above 0.`;
    throw new ToolEnvError('usage.history', message);
  }
  return transformObservation(env, ({ messages, ...rest }) => ({
    ...rest,
    messages: truncate(messages, characters),
  }));
}

function truncate(messages: readonly Message[], characters: number): Message[] {
  const lastTurn = messages.findLastIndex(({ role }) => role === 'assistant');
  let excess = messages.reduce((total, { content }) => total + content.length, 0) - characters;
  return messages.map((message, i) => {
    const note = `[${message.content.length} characters cut]`;
    const saved = message.content.length - note.length;
    if (excess <= 0 || message.role !== 'tool' || i > lastTurn || saved <= 0) return message;
    excess -= saved;
    return { ...message, content: note };
  });
}
