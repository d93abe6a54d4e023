/** Conversations as the chat messages of the OpenAI API, with the server's own tool calls. */
import { type ImageBlock, imagesOf, type Message, type ToolCall } from '@toolenv/core';
import type { Json } from './answer.ts';

/**
 * Calls are numbered anew, because policies number them from 0 in each turn and some services want ids that differ in the
 * whole conversation. Nine letters and digits are what Mistral's templates want.
 * @param options Whether the server takes thoughts back.
 */
export function wireMessages(
  messages: readonly Message[],
  { reasoning: givesReasoning = false }: { reasoning?: boolean } = {},
): Json[] {
  let ids = new Map<string, string>();
  return messages.flatMap((message, index): Json[] => {
    if (message.role === 'tool') {
      const { content, name, toolCallId } = message;
      const answer = { role: 'tool', content, name, tool_call_id: ids.get(toolCallId) ?? toolCallId };
      return messages[index + 1]?.role === 'tool' ? [answer] : [answer, ...shownImages(messages, index)];
    }
    if (message.role !== 'assistant') return [{ role: message.role, content: withImages(message) }];
    const { content, reasoning, toolCalls = [] } = message;
    const thought = givesReasoning && reasoning !== undefined && { reasoning_content: reasoning };
    if (toolCalls.length === 0) return [{ role: 'assistant', content, ...thought }];
    ids = new Map(toolCalls.map(({ id }, call) => [id, wireId(index, call)]));
    const tool_calls = toolCalls.map(({ id, name, arguments: args }: ToolCall) => ({
      id: ids.get(id),
      type: 'function',
      function: { name, arguments: JSON.stringify(args) },
    }));
    // Some services refuse an empty text.
    return [{ role: 'assistant', content: content === '' ? null : content, ...thought, tool_calls }];
  });
}

/** A text, or parts with the images behind it. */
function withImages(message: Message): string | Json[] {
  const images = imagesOf(message);
  return images.length === 0
    ? message.content
    : [{ type: 'text', text: message.content }, ...images.map(imagePart)];
}

/** The images of the tool results that end at `last`. The API takes them from a user alone, after all results of a turn. */
function shownImages(messages: readonly Message[], last: number): Json[] {
  const first = messages.findLastIndex(({ role }, index) => index <= last && role !== 'tool') + 1;
  const images = messages.slice(first, last + 1).flatMap(imagesOf);
  if (images.length === 0) return [];
  const text = { type: 'text', text: 'The images of the tool results:' };
  return [{ role: 'user', content: [text, ...images.map(imagePart)] }];
}

function imagePart({ data, mimeType }: ImageBlock): Json {
  return { type: 'image_url', image_url: { url: `data:${mimeType};base64,${data}` } };
}

/** The id of a call by its place in the conversation. */
export function wireId(message: number, call: number): string {
  return `c${String(message % 1e4).padStart(4, '0')}${String(call % 1e4).padStart(4, '0')}`;
}
