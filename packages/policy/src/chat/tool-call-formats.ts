/** How models write tool calls: Hermes and Qwen, Llama 3, Mistral. A checkpoint's chat template shows its format. */
import { messageOf, type ParseFailure, type ToolCall } from '@toolenv/core';
import { isJson } from '@toolenv/core/schemas';

/** The calls in a turn, and the text around them. Malformed calls stay in the text. */
export interface ParsedTurn {
  text: string;
  toolCalls: (ToolCall | ParseFailure)[];
}

export interface ToolCallFormat {
  /** Special tokens that mark calls. The tokenizer's decoder would leave them out. */
  readonly markers: readonly string[];
  parse(raw: string): ParsedTurn;
  /** A call's id in the form that the chat template accepts. */
  templateId?(id: string): string;
}

/** `<tool_call>{"name": …, "arguments": {…}}</tool_call>`, any number of times. */
export const hermesFormat: ToolCallFormat = {
  markers: [],
  parse(raw) {
    const toolCalls: ParsedTurn['toolCalls'] = [];
    const text = raw.replace(/<tool_call>([\s\S]*?)(?:<\/tool_call>|$)/g, (whole, body: string) => {
      const call = parseCall(body, `call-${toolCalls.length}`);
      toolCalls.push(call);
      return 'parseFailure' in call ? whole : '';
    });
    return { text: text.trim(), toolCalls };
  },
};

/** `{"name": …, "parameters": {…}}` as the whole turn, several calls separated by `;`, optionally after `<|python_tag|>`. */
export const llamaFormat: ToolCallFormat = {
  markers: ['<|python_tag|>'],
  parse(raw) {
    const tagged = raw.trimStart().startsWith('<|python_tag|>');
    const body = raw.replace('<|python_tag|>', '').trim();
    // An answer may be JSON without being a call.
    if (!tagged && !/^\{\s*"name"\s*:/.test(body)) return { text: raw.trim(), toolCalls: [] };
    const bodies = splitAfterObjects(body);
    const toolCalls = bodies.map((each, i) => parseCall(each, `call-${i}`));
    const failed = toolCalls.some((call) => 'parseFailure' in call);
    return { text: failed ? raw.trim() : '', toolCalls };
  },
};

/** `[TOOL_CALLS][{"name": …, "arguments": {…}, "id": …}]`, or `[TOOL_CALLS]name[ARGS]{…}` for each call. */
export const mistralFormat: ToolCallFormat = {
  markers: ['[TOOL_CALLS]', '[ARGS]'],
  parse(raw) {
    const [before = '', ...marked] = raw.split('[TOOL_CALLS]');
    const toolCalls: ParsedTurn['toolCalls'] = [];
    for (const body of marked) {
      const [name, args] = body.split('[ARGS]');
      if (args !== undefined) {
        const call = `{"name": ${JSON.stringify(name!.trim())}, "arguments": ${args}}`;
        toolCalls.push(parseCall(call, mistralId(toolCalls.length)));
      } else toolCalls.push(...parseCalls(body, toolCalls.length));
    }
    const failed = toolCalls.some((call) => 'parseFailure' in call);
    return { text: (failed ? raw : before).trim(), toolCalls };
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
  let values: unknown;
  try {
    values = JSON.parse(body);
  } catch (error) {
    return [{ parseFailure: `Not JSON: ${messageOf(error)}.`, text: body.trim() }];
  }
  if (!Array.isArray(values)) return [{ parseFailure: 'The calls must be an array.', text: body.trim() }];
  return values.map((value: { id?: unknown } | null, i) => {
    const id = typeof value?.id === 'string' ? value.id : mistralId(before + i);
    return toCall(value, id, JSON.stringify(value));
  });
}

function parseCall(body: string, id: string): ToolCall | ParseFailure {
  try {
    return toCall(JSON.parse(body), id, body.trim());
  } catch (error) {
    return { parseFailure: `Not JSON: ${messageOf(error)}.`, text: body.trim() };
  }
}

function toCall(value: unknown, id: string, text: string): ToolCall | ParseFailure {
  const { name, arguments: own, parameters } = (value ?? {}) as Record<string, unknown>;
  const args = own ?? parameters;
  if (typeof name !== 'string') return { parseFailure: '"name" must be a string.', text };
  if (typeof args !== 'object' || args === null || Array.isArray(args)) {
    return { parseFailure: '"arguments" must be an object.', text };
  }
  return { id, name, arguments: args as Record<string, unknown> };
}

/** Splits `{…}; {…}` into its objects. A `;` separates them only if the text before it is complete JSON. */
function splitAfterObjects(body: string): string[] {
  const parts: string[] = [];
  let start = 0;
  for (let end = body.indexOf(';'); end >= 0; end = body.indexOf(';', end + 1)) {
    const part = body.slice(start, end);
    if (!isJson(part)) continue;
    parts.push(part);
    start = end + 1;
  }
  const rest = body.slice(start);
  return parts.length > 0 && rest.trim() === '' ? parts : [...parts, rest];
}
