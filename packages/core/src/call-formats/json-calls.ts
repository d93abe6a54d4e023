/** Calls as JSON: an object, objects behind each other, or an array, between the marks of a family. */
import { isObject } from '../schemas/json-text.ts';
import { type CallSyntax, defineFormat, type ToolCallFormat, type WrittenCall } from './call-format.ts';
import { readJson, skipSpace } from './json-end.ts';
import { Unreadable } from './unreadable.ts';

type Read = CallSyntax['read'];

/** A format whose calls are JSON between two marks. */
export function jsonFormat(
  name: string,
  open: string,
  close = '',
  more: Partial<CallSyntax> = {},
): ToolCallFormat {
  return defineFormat({ name, open, close, read: readCalls, ...more });
}

/** Objects, with white space, commas or semicolons between them, or an array of objects. */
export const readCalls: Read = (text, at) => {
  const first = readJson(text, at, Number(text[skipSpace(text, at)] === '[') + 1);
  if (Array.isArray(first.value))
    return { calls: first.value.map((value) => toWritten(value, JSON.stringify(value))), end: first.end };
  const calls = [toWritten(first.value)];
  let { end } = first;
  for (;;) {
    let next = skipSpace(text, end);
    if (text[next] === ',' || text[next] === ';') next = skipSpace(text, next + 1);
    if (text[next] !== '{') return { calls, end: next };
    const { value, end: after } = readJson(text, next, 1);
    calls.push(toWritten(value));
    end = after;
  }
};

/** `{name: arguments}`, as Apertus writes a call. */
export const readSingleKeys: Read = (text, at) => {
  const { value, end } = readJson(text, at, 2);
  if (!Array.isArray(value)) throw new Unreadable('The calls must be an array.');
  const calls = value.map((one): WrittenCall => {
    const entries = Object.entries(Object(one));
    const [name, args] = entries.length === 1 ? entries[0]! : [undefined, undefined];
    return { name, arguments: args, text: JSON.stringify(one) };
  });
  return { calls, end };
};

function toWritten(value: unknown, text?: string): WrittenCall {
  const call = Object(value) as Record<string, unknown>;
  return {
    name: call.name ?? call.tool_name,
    arguments: call.arguments ?? call.parameters,
    id: call.id ?? call.tool_call_id,
    ...(text !== undefined && { text }),
  };
}

/**
 * A name, marks, and the arguments as JSON.
 * @param head Ends where the arguments begin. Sticky; one of its groups is the name, and `id` may be another.
 * @param fence What may follow the arguments.
 */
export function readNamed(head: RegExp, fence = ''): Read {
  return (text, at) => {
    head.lastIndex = at;
    const found = head.exec(text);
    if (!found) throw new Unreadable('The call has no name.');
    const { name = '', other, id } = found.groups ?? {};
    const { value, end } = readJson(text, head.lastIndex);
    const after = skipSpace(text, end);
    const stop = fence !== '' && text.startsWith(fence, after) ? after + fence.length : end;
    return { calls: [{ name: (other ?? name).trim(), arguments: value, id }], end: stop };
  };
}

/** `[TOOL_CALLS][{…}]`, or `[TOOL_CALLS]name[ARGS]{…}` for each call, in newer models with `[CALL_ID]` between them. */
export const mistralFormat: ToolCallFormat = defineFormat({
  name: 'mistral',
  open: '[TOOL_CALLS]',
  inner: ['[ARGS]', '[CALL_ID]'],
  ownId: mistralId,
  templateId: (id) =>
    id
      .replaceAll(/[^A-Za-z0-9]/g, '')
      .padStart(9, '0')
      .slice(-9),
  read: (text, at, tools) => {
    const named =
      /(?<name>(?:(?!\[(?:ARGS|CALL_ID|TOOL_CALLS)\]).)*)(?:\[CALL_ID\](?<id>[^[\]{}"]*))?\[ARGS\]/sy;
    named.lastIndex = at;
    const start = skipSpace(text, at);
    const list = /\[\s*[{\]]/y;
    list.lastIndex = start;
    const isNamed = !list.test(text) && named.test(text);
    if (isNamed || text[start] === '[') {
      const found = (isNamed ? readNamed(named) : readCalls)(text, at, tools)!;
      const next = skipSpace(text, found.end);
      if (next === text.length || text.startsWith('[TOOL_CALLS]', next)) return found;
      throw new Unreadable('Not JSON: write nothing behind the arguments.');
    }
    readJson(text, at);
    throw new Unreadable('The calls must be an array.');
  },
});

/** An id of nine digits. Mistral's templates require ids of nine letters and digits. */
function mistralId(number: number): string {
  return String(number).padStart(9, '0');
}

const pythonTag = '<|python_tag|>';

/** `{"name": …, "parameters": {…}}` as the whole turn, several calls separated by `;`, optionally after `<|python_tag|>`. */
export const llamaFormat: ToolCallFormat = defineFormat({
  name: 'llama',
  open: '',
  inner: [pythonTag],
  read: (text, at, tools) => {
    const tagged = text.startsWith(pythonTag, at);
    const start = skipSpace(text, tagged ? at + pythonTag.length : at);
    const rest = text.slice(start).trim();
    if (!tagged && !isCall(rest, tools)) return undefined;
    const { calls, end } = readCalls(text, start, tools)!;
    if (skipSpace(text, end) < text.length) throw new Unreadable('Not JSON: write nothing behind the calls.');
    return { calls, end: text.length };
  },
});

/** Whether a turn is a call. An answer may be JSON with a name too. */
function isCall(text: string, tools: readonly { name: string }[]): boolean {
  if (!/^\{[ \n\r\t]*"(?:name|type)"[ \n\r\t]*:/.test(text)) return false;
  let first: unknown;
  try {
    first = readJson(text, 0, 1).value;
    if (!isObject(first)) return false;
  } catch {
    // Malformed JSON with a name was meant as a call.
    return /^\{[ \n\r\t]*(?:"type"[ \n\r\t]*:[ \n\r\t]*"function"|"name")/.test(text);
  }
  const { name, type, arguments: args, parameters } = first;
  if (args !== undefined || parameters !== undefined || type === 'function') return true;
  return Object.keys(first).length === 1 && tools.some((tool) => tool.name === name);
}
