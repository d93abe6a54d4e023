/** Conversations as the chat messages of the OpenAI API, with the server's own tool calls. */
import {
  type Action,
  type ImageBlock,
  imagesOf,
  isParseFailure,
  type Message,
  type ParseFailure,
  type ToolCall,
  type ToolDescription,
} from '@toolenv/core';
import { integerMistake, unsafeInteger } from '@toolenv/core/schemas';
import { boundCall, hermesFormat } from '@toolenv/core/tools';
import type { Json } from './refusal.ts';

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

/** A turn as a server gives it. Nothing in it is trusted. */
export interface Said {
  content: string;
  /** Thoughts, where the server gives them apart from the text. */
  reasoning?: string;
  /** `arguments` is JSON in a string, or an object. */
  calls: readonly { name: unknown; arguments: unknown }[];
  isCut: boolean;
}

/** Calls of one turn beyond it are not read. */
const maxCalls = 256;

/** @param tools Without tools, nothing in the text is a call. */
export function readTurn(
  { content, reasoning, calls, isCut }: Said,
  tools: readonly ToolDescription[],
): Action {
  const native = calls.slice(0, maxCalls).map(readCall);
  const written = hermesFormat.parse(content, { tools, readsCalls: tools.length > 0 });
  // Servers draw ids at random.
  const toolCalls = [...native, ...written.toolCalls].map((call, index) =>
    isParseFailure(call) ? call : { ...call, id: `call-${index}` },
  );
  const failed = native.filter(isParseFailure).map(({ text }) => text);
  const text = [written.text, ...failed].filter((part) => part !== '').join('\n');
  const thoughts = [reasoning, written.reasoning].filter((part) => part !== undefined).join('\n\n');
  return {
    text,
    ...(thoughts !== '' && { reasoning: thoughts }),
    toolCalls,
    stopReason: isCut ? 'length' : toolCalls.length > 0 ? 'tool_call' : 'stop',
  };
}

function readCall({ name, arguments: written }: Said['calls'][number]): ToolCall | ParseFailure {
  const text = `${name}(${typeof written === 'string' ? written : JSON.stringify(written)})`;
  if (typeof name !== 'string') return { parseFailure: 'The call must have a name.', text };
  let args: unknown = written;
  if (typeof written === 'string') {
    try {
      // A call without arguments may come with an empty text.
      args = written.trim() === '' ? {} : JSON.parse(written);
      const integer = unsafeInteger(written);
      if (integer !== undefined) return { parseFailure: integerMistake(integer), text };
    } catch (error) {
      return { parseFailure: `Not JSON: ${(error as Error).message}.`, text };
    }
  }
  args ??= {};
  if (typeof args !== 'object' || Array.isArray(args)) {
    return { parseFailure: 'The arguments must be an object.', text };
  }
  return boundCall({ id: 'call', name, arguments: args as Record<string, unknown> });
}
