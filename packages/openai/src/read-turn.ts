/** What a model has said, as an action: its text, the calls that the server parsed, and those that it left in the text. */
import {
  type Action,
  isParseFailure,
  type ParseFailure,
  type ToolCall,
  type ToolDescription,
} from '@toolenv/core';
import { integerMistake, unsafeInteger } from '@toolenv/core/schemas';
import { boundCall, hermesFormat } from '@toolenv/core/tools';

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
