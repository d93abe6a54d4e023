/** The Hermes/Qwen tool-call format: `<tool_call>{"name": …, "arguments": {…}}</tool_call>`. */
import type { ParseFailure, ToolCall } from '@toolenv/core';
import { messageOf } from '@toolenv/core';

const block = /<tool_call>([\s\S]*?)(?:<\/tool_call>|$)/g;

/** The calls in a turn, and the text around them. What looks like a call and is not one stays in the text. */
export function parseToolCalls(raw: string): { text: string; toolCalls: (ToolCall | ParseFailure)[] } {
  const toolCalls: (ToolCall | ParseFailure)[] = [];
  const text = raw.replace(block, (whole, body: string) => {
    const call = parseCall(body, `call-${toolCalls.length}`);
    toolCalls.push(call);
    return 'parseFailure' in call ? whole : '';
  });
  return { text: text.trim(), toolCalls };
}

function parseCall(body: string, id: string): ToolCall | ParseFailure {
  let value: unknown;
  try {
    value = JSON.parse(body);
  } catch (error) {
    return { parseFailure: `Not JSON: ${messageOf(error)}.`, text: body.trim() };
  }
  const { name, arguments: args } = (value ?? {}) as { name?: unknown; arguments?: unknown };
  if (typeof name !== 'string') return { parseFailure: '"name" must be a string.', text: body.trim() };
  if (typeof args !== 'object' || args === null || Array.isArray(args)) {
    return { parseFailure: '"arguments" must be an object.', text: body.trim() };
  }
  return { id, name, arguments: args as Record<string, unknown> };
}
