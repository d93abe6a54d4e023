/** The messages of a turn, and what a player sees of its conversation. */
import { freezeJson } from '../boundary/json-copies.ts';
import { type Action, isParseFailure, turnMessage } from '../protocol/action.ts';
import type { ToolCallRecord } from '../protocol/env.ts';
import type { Message, Observation } from '../protocol/message.ts';
import type { Tool } from '../protocol/tool.ts';
import { callsBounds } from '../schemas/json-bounds.ts';
import { resultImages, withNewestImages } from './turn-images.ts';

/** What was said, as messages of a conversation; a text as a message of the user. */
export function toMessages(said: string | readonly Message[]): Message[] {
  return typeof said === 'string' ? [keep({ role: 'user', content: said })] : said.map(keep);
}

/** The message as the conversation, its observations and the records share it: a frozen copy, as a hook may use its object again. */
function keep(message: Message): Message {
  try {
    if (Object(message) === message) return freezeJson(message, callsBounds);
  } catch {
    // As below.
  }
  // The guard of the environment names the rule.
  return { ...message };
}

export function observationOf(conversation: readonly Message[], tools: readonly Tool[]): Observation {
  const described = tools.map(({ name, description, inputSchema }) => ({ name, description, inputSchema }));
  return { messages: withNewestImages(conversation), tools: described };
}

/** The assistant's turn and the tools' answers to it, as messages. */
export function messagesOf(action: Action, calls: readonly ToolCallRecord[]): Message[] {
  if (calls.length === 0) return [keep(turnMessage({ ...action, toolCalls: [] }))];
  const answers = calls.map(({ call, text, result }): Message => {
    if (isParseFailure(call)) return keep({ role: 'tool', content: text, toolCallId: '', name: '' });
    const images = resultImages(result);
    const answer = { role: 'tool', content: text, toolCallId: call.id, name: call.name } as const;
    return keep(images.length > 0 ? { ...answer, images } : answer);
  });
  return [keep(turnMessage(action)), ...answers];
}
