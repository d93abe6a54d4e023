/** Examples from trajectories: the conversations of an episode, each turn learned once. */
import { isDeepStrictEqual } from 'node:util';
import { isParseFailure, type Message, type Trajectory } from '@toolenv/core';
import type { Example } from './example.ts';

/**
 * One example for as long as the environment appends to the conversation; one more wherever the context was rewritten, which
 * learns the turns from there on. The tokens are made anew from the text, so that any policy can learn from the episode. An
 * aborted episode gives none.
 */
export function trajectoryExamples({ steps, outcome }: Trajectory): Example[] {
  if (outcome.kind === 'aborted') return [];
  const conversations: { messages: Message[]; firstLearned: number; example: Example }[] = [];
  for (const { observation, action } of steps) {
    const { messages: before, tools } = observation;
    const toolCalls = action.toolCalls.flatMap((call) => (isParseFailure(call) ? [] : [call]));
    const turn: Message = {
      role: 'assistant',
      content: action.text,
      ...(toolCalls.length > 0 && { toolCalls }),
    };
    const messages = [...before, turn];
    const last = conversations.at(-1);
    const grows =
      last && isDeepStrictEqual(withoutEmptyCalls(before.slice(0, last.messages.length)), last.messages);
    const firstLearned = grows ? last.firstLearned : before.filter(({ role }) => role === 'assistant').length;
    if (grows) conversations.pop();
    const example = { content: { messages, tools }, learns: (at: number) => at >= firstLearned };
    conversations.push({ messages: withoutEmptyCalls(messages), firstLearned, example });
  }
  return conversations.map(({ example }) => example);
}

/** An environment may write a turn without calls with an empty list of calls. */
function withoutEmptyCalls(messages: readonly Message[]): Message[] {
  return messages.map((message) => {
    if (message.role !== 'assistant' || message.toolCalls === undefined || message.toolCalls.length > 0)
      return message;
    return { role: 'assistant', content: message.content };
  });
}
