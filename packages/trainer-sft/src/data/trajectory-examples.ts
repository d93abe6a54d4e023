/** Examples from trajectories: the conversations of an episode, each turn learned once. */
import { isDeepStrictEqual } from 'node:util';
import { type Message, type Trajectory, turnMessage } from '@toolenv/core';
import type { Example } from './example.ts';

/**
 * One example for as long as the environment appends to a conversation; one more wherever the context was rewritten, which
 * learns the turns from there on. A turn that says `learn: false` is context only. The tokens are made anew from the text, so that any policy can learn from the episode. An
 * aborted episode gives none.
 */
export function trajectoryExamples({ steps, outcome }: Trajectory): Example[] {
  if (outcome.kind === 'aborted') return [];
  const conversations: { messages: Message[]; learned: Set<number>; example: Example }[] = [];
  for (const { observation, action, learn } of steps) {
    const { messages: before, tools } = observation;
    const messages = [...before, turnMessage(action)];
    const grown = conversations.findLastIndex(({ messages: past }) =>
      isDeepStrictEqual(withoutEmptyCalls(before.slice(0, past.length)), past),
    );
    const [{ learned } = { learned: new Set<number>() }] = grown < 0 ? [] : conversations.splice(grown, 1);
    if (learn !== false) learned.add(before.filter(({ role }) => role === 'assistant').length);
    const example = { content: { messages, tools }, learns: (at: number) => learned.has(at) };
    conversations.push({ messages: withoutEmptyCalls(messages), learned, example });
  }
  return conversations.filter(({ learned }) => learned.size > 0).map(({ example }) => example);
}

/** An environment may write a turn without calls with an empty list of calls. */
function withoutEmptyCalls(messages: readonly Message[]): Message[] {
  return messages.map((message) => {
    if (message.role !== 'assistant' || message.toolCalls === undefined || message.toolCalls.length > 0)
      return message;
    const { toolCalls: _, ...rest } = message;
    return rest;
  });
}
