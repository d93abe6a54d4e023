/** How models write tool calls: Hermes and Qwen, Llama 3, Mistral. A checkpoint's chat template shows its format. */
import { boundCall } from '../boundary/bound-call.ts';
import { type Action, isParseFailure, type ParseFailure } from '../protocol/action.ts';
import { messageOf } from '../protocol/errors.ts';
import type { ToolCall } from '../protocol/message.ts';
import { argumentBounds, jsonMistake } from '../schemas/json-bounds.ts';
import { isObject, tryJson } from '../schemas/json-text.ts';

/** The calls in a turn, and the text around them. Malformed calls stay in the text. */
export type ParsedTurn = Pick<Action, 'text' | 'toolCalls'>;

/** Parsing takes time in proportion to the text, whatever the model wrote. */
export interface ToolCallFormat {
  readonly name: string;
  /** Special tokens that mark calls. The tokenizer's decoder would leave them out. */
  readonly markers: readonly string[];
  parse(raw: string): ParsedTurn;
  /** A call's id in the form that the chat template accepts. */
  templateId?(id: string): string;
}

/** `<tool_call>{"name": …, "arguments": {…}}</tool_call>`, any number of times. */
export const hermesFormat: ToolCallFormat = {
  name: 'hermes',
  markers: [],
  parse(raw) {
    const toolCalls: ParsedTurn['toolCalls'] = [];
    const text = raw.replace(/<tool_call>([\s\S]*?)(?:<\/tool_call>|$)/g, (whole, body: string) => {
      const call = parseCall(body, `call-${toolCalls.length}`);
      toolCalls.push(call);
      return isParseFailure(call) ? whole : '';
    });
    return { text: text.trim(), toolCalls: atMost(toolCalls) };
  },
};

/** `{"name": …, "parameters": {…}}` as the whole turn, several calls separated by `;`, optionally after `<|python_tag|>`. */
export const llamaFormat: ToolCallFormat = {
  name: 'llama',
  markers: ['<|python_tag|>'],
  parse(raw) {
    const tagged = raw.trimStart().startsWith('<|python_tag|>');
    const body = raw.replace('<|python_tag|>', '').trim();
    // An answer may be JSON without being a call.
    if (!tagged && !/^\{[ \n\r\t]*"name"[ \n\r\t]*:/.test(body)) return { text: raw.trim(), toolCalls: [] };
    const toolCalls = splitAfterObjects(body).map((each, i) => parseCall(each, `call-${i}`));
    return { text: toolCalls.some(isParseFailure) ? raw.trim() : '', toolCalls: atMost(toolCalls) };
  },
};

/** `[TOOL_CALLS][{"name": …, "arguments": {…}, "id": …}]`, or `[TOOL_CALLS]name[ARGS]{…}` for each call. */
export const mistralFormat: ToolCallFormat = {
  name: 'mistral',
  markers: ['[TOOL_CALLS]', '[ARGS]'],
  parse(raw) {
    const [before = '', ...marked] = raw.split('[TOOL_CALLS]');
    const toolCalls: ParsedTurn['toolCalls'] = [];
    for (const body of marked) {
      const args = body.indexOf('[ARGS]');
      if (args >= 0) toolCalls.push(parseNamed(body, args, mistralId(toolCalls.length)));
      else for (const call of parseCalls(body, toolCalls.length)) toolCalls.push(call);
    }
    return { text: (toolCalls.some(isParseFailure) ? raw : before).trim(), toolCalls: atMost(toolCalls) };
  },
  templateId: (id) =>
    id
      .replaceAll(/[^A-Za-z0-9]/g, '')
      .padStart(9, '0')
      .slice(-9),
};

/** The format that a chat template renders. If it renders none, the most common one: Hermes. */
export function formatOf(template: string): ToolCallFormat {
  if (template.includes('[TOOL_CALLS]')) return mistralFormat;
  if (template.includes('<tool_call>')) return hermesFormat;
  return /<\|python_tag\|>|"parameters"/.test(template) ? llamaFormat : hermesFormat;
}

/** An id of nine digits. Mistral's templates require ids of nine letters and digits. */
function mistralId(number: number): string {
  return String(number).padStart(9, '0');
}

/** Parses a JSON array of calls, which may have ids. */
function parseCalls(body: string, before: number): ParsedTurn['toolCalls'] {
  const text = body.trim();
  const parsed = parseJson(text, 2);
  if ('parseFailure' in parsed) return [{ ...parsed, text }];
  if (!Array.isArray(parsed.value)) return [{ parseFailure: 'The calls must be an array.', text }];
  return parsed.value.map((value: { id?: unknown } | null, i) => {
    const id = typeof value?.id === 'string' ? value.id : mistralId(before + i);
    const call = toCall(value, id, '');
    return isParseFailure(call) ? { ...call, text: JSON.stringify(value) } : call;
  });
}

function parseCall(body: string, id: string): ToolCall | ParseFailure {
  const text = body.trim();
  const parsed = parseJson(text, 1);
  return 'parseFailure' in parsed ? { ...parsed, text } : toCall(parsed.value, id, text);
}

/** Parses `name[ARGS]{…}`. */
function parseNamed(body: string, args: number, id: string): ToolCall | ParseFailure {
  const text = body.trim();
  const parsed = parseJson(body.slice(args + '[ARGS]'.length), 0);
  if ('parseFailure' in parsed) return { ...parsed, text };
  return toCall({ name: body.slice(0, args).trim(), arguments: parsed.value }, id, text);
}

/** Parses JSON whose arguments are `outer` levels deep. */
function parseJson(text: string, outer: number): { value: unknown } | { parseFailure: string } {
  const { depth } = argumentBounds;
  try {
    const value: unknown = JSON.parse(text);
    const wrong = jsonMistake(value, { depth: depth + outer, characters: Number.POSITIVE_INFINITY });
    if (!wrong) return { value };
    // JSON.parse makes Infinity of 1e999.
    if (wrong.expected === 'JSON') return { parseFailure: 'Give numbers that JSON can hold.' };
    return { parseFailure: `Give arguments of at most ${depth} levels of arrays and objects.` };
  } catch (error) {
    return { parseFailure: `Not JSON: ${messageOf(error)}.` };
  }
}

/** @param text What the model wrote, for a failure. */
function toCall(value: unknown, id: string, text: string): ToolCall | ParseFailure {
  const { name, arguments: own, parameters } = Object(value) as Record<string, unknown>;
  const args = own ?? parameters;
  if (typeof name !== 'string') return { parseFailure: '"name" must be a string.', text };
  if (!isObject(args)) return { parseFailure: '"arguments" must be an object.', text };
  const call = boundCall({ id, name, arguments: args });
  return isParseFailure(call) ? { ...call, text } : call;
}

/** Splits `{…}; {…}` into its objects. A `;` separates them only if the text before it is complete JSON. */
function splitAfterObjects(body: string): string[] {
  const parts: string[] = [];
  let start = 0;
  for (const end of outerSemicolons(body)) {
    const part = body.slice(start, end);
    // A longer text cannot be JSON either, because JSON has no `;` outside of strings.
    if (tryJson(part) === undefined) break;
    parts.push(part);
    start = end + 1;
  }
  const rest = body.slice(start);
  return parts.length > 0 && rest.trim() === '' ? parts : [...parts, rest];
}

/** The positions of each `;` outside of JSON strings. */
function* outerSemicolons(text: string): Generator<number> {
  let inString = false;
  for (let i = 0; i < text.length; i++) {
    const character = text[i];
    if (inString && character === '\\') i++;
    else if (character === '"') inString = !inString;
    else if (character === ';' && !inString) yield i;
  }
}

/** Calls that a turn may have. Each call is answered, so that a short text could have a very long answer. */
const mostCalls = 256;

function atMost(toolCalls: ParsedTurn['toolCalls']): ParsedTurn['toolCalls'] {
  if (toolCalls.length <= mostCalls) return toolCalls;
  const excess = toolCalls.length - mostCalls;
  const parseFailure = `A turn has at most ${mostCalls} calls; ${excess} more were ignored.`;
  return [...toolCalls.slice(0, mostCalls), { parseFailure, text: '' }];
}
