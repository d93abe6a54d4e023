/** Conversations as the chat messages of the OpenAI API, with the server's own tool calls. */
import type { Message, ToolCall, ToolDescription } from '@toolenv/core';
import type { Json } from './server.ts';

/**
 * Calls are numbered anew, because policies number them from 0 in each turn and some services want ids that differ in the
 * whole conversation. Nine letters and digits are what Mistral's templates want.
 */
export function wireMessages(messages: readonly Message[]): Json[] {
  let ids = new Map<string, string>();
  return messages.map((message, index) => {
    if (message.role === 'tool') {
      const { content, name, toolCallId } = message;
      return { role: 'tool', content, name, tool_call_id: ids.get(toolCallId) ?? toolCallId };
    }
    if (message.role !== 'assistant') return { role: message.role, content: message.content };
    const { content, toolCalls = [] } = message;
    if (toolCalls.length === 0) return { role: 'assistant', content };
    ids = new Map(toolCalls.map(({ id }, call) => [id, wireId(index, call)]));
    const tool_calls = toolCalls.map(({ id, name, arguments: args }: ToolCall) => ({
      id: ids.get(id),
      type: 'function',
      function: { name, arguments: JSON.stringify(args) },
    }));
    // Some services refuse an empty text.
    return { role: 'assistant', content: content === '' ? null : content, tool_calls };
  });
}

export function wireTools(tools: readonly ToolDescription[]): Json[] {
  return tools.map(({ name, description, inputSchema }) => ({
    type: 'function',
    function: { name, description, parameters: inputSchema },
  }));
}

/** The id of a call by its place in the conversation. */
export function wireId(message: number, call: number): string {
  return `c${String(message % 1e4).padStart(4, '0')}${String(call % 1e4).padStart(4, '0')}`;
}
