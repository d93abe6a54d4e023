/** What a model has said, as an action: its text, the calls that the server parsed, and those that it left in the text. */
import { type Action, isParseFailure, type ParseFailure, type ToolCall } from '@toolenv/core';
import { boundCall, hermesFormat } from '@toolenv/core/tools';

/** A turn as a server gives it. Nothing in it is trusted. */
export interface Said {
  content: string;
  /** `arguments` is JSON in a string, or an object. */
  calls: readonly { name: unknown; arguments: unknown }[];
  isCut: boolean;
}

/** Calls of one turn beyond it are not read. */
const mostCalls = 256;

/** @param hasTools Whether the observation has tools. Without tools, nothing in the text is a call. */
export function readTurn({ content, calls, isCut }: Said, hasTools: boolean): Action {
  const native = calls.slice(0, mostCalls).map(readCall);
  const written = hasTools ? hermesFormat.parse(content) : { text: content.trim(), toolCalls: [] };
  // Servers draw ids at random.
  const toolCalls = [...native, ...written.toolCalls].map((call, index) =>
    isParseFailure(call) ? call : { ...call, id: `call-${index}` },
  );
  const failed = native.filter(isParseFailure).map(({ text }) => text);
  const text = [written.text, ...failed].filter((part) => part !== '').join('\n');
  return { text, toolCalls, stopReason: isCut ? 'length' : toolCalls.length > 0 ? 'tool_call' : 'stop' };
}

function readCall({ name, arguments: written }: Said['calls'][number]): ToolCall | ParseFailure {
  const text = `${name}(${typeof written === 'string' ? written : JSON.stringify(written)})`;
  if (typeof name !== 'string') return { parseFailure: 'The call must have a name.', text };
  let args: unknown = written;
  if (typeof written === 'string') {
    try {
      // A call without arguments may come with an empty text.
      args = written.trim() === '' ? {} : JSON.parse(written);
    } catch (error) {
      return { parseFailure: `Not JSON: ${(error as Error).message}.`, text };
    }
  }
  if (typeof args !== 'object' || args === null || Array.isArray(args)) {
    return { parseFailure: 'The arguments must be an object.', text };
  }
  return boundCall({ id: 'call', name, arguments: args as Record<string, unknown> });
}
