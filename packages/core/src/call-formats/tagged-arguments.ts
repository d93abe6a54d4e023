/** Calls whose arguments stand between tags, each as text: `<parameter=city>Oslo</parameter>`. */
import type { JsonSchema } from '../protocol/json-schema.ts';
import type { ToolDescription } from '../protocol/message.ts';
import { isObject } from '../schemas/json-text.ts';
import type { CallSyntax, WrittenCall } from './call-format.ts';
import { parseJson, skipSpace } from './json-end.ts';
import { put, readLiteral, readNumber } from './literals.ts';
import { Unreadable } from './unreadable.ts';

export interface TagSyntax {
  /** Begins a call. Sticky; its group is the name. */
  head: RegExp;
  /** Begins an argument. Sticky; its groups are the name and, where the model writes it, the type. */
  key: RegExp;
  /** Ends an argument. */
  valueEnd: string;
  /** Ends a call. Default: what ends the list of calls. */
  tail?: string;
  /** What stands before and after each value, such as a line break. */
  pad?: string;
}

/** Reads calls behind each other. */
export function readTagged(
  { head, key, valueEnd, tail = '', pad = '' }: TagSyntax,
  close: string,
): CallSyntax['read'] {
  /** Where an argument or the end of the call begins; `undefined` if neither does. */
  const continues = (text: string, at: number) => {
    const place = skipSpace(text, at);
    return (
      place === text.length ||
      text.startsWith(tail || close, place) ||
      matches(key, text, place) !== undefined
    );
  };
  return (text, at, tools) => {
    const calls: WrittenCall[] = [];
    let place = skipSpace(text, at);
    for (let begun = matches(head, text, place); begun; begun = matches(head, text, place)) {
      const start = place;
      const name = begun[1]!.trim();
      if (name === '') throw new Unreadable('The call has no name.');
      place = skipSpace(text, head.lastIndex);
      const args: Record<string, unknown> = {};
      for (let named = matches(key, text, place); named; named = matches(key, text, place)) {
        const [, argument = '', type] = named;
        const from = key.lastIndex;
        let end = text.indexOf(valueEnd, from);
        // The text of a value may have the mark that ends it.
        while (end >= 0 && !continues(text, end + valueEnd.length)) end = text.indexOf(valueEnd, end + 1);
        if (end < 0) throw new Unreadable(`The argument "${argument.slice(0, 80)}" lacks its ${valueEnd}.`);
        const written = unpad(text.slice(from, end), pad);
        put(args, argument.trim(), readValue(written, type, schemaOf(tools, name, argument.trim())));
        place = skipSpace(text, end + valueEnd.length);
      }
      if (tail !== '' && text.startsWith(tail, place)) place = skipSpace(text, place + tail.length);
      else if (tail !== '' && place < text.length) throw new Unreadable(`Write ${tail} after the arguments.`);
      calls.push({ name, arguments: args, text: text.slice(start, place) });
      // Without a tail, the list ends after one call.
      if (tail === '') break;
    }
    if (calls.length === 0) throw new Unreadable('The call has no name.');
    return { calls, end: place };
  };
}

function matches(pattern: RegExp, text: string, at: number): RegExpExecArray | undefined {
  pattern.lastIndex = at;
  return pattern.exec(text) ?? undefined;
}

function unpad(value: string, pad: string): string {
  if (pad === '') return value;
  const start = value.startsWith(pad) ? pad.length : 0;
  return value.slice(start, value.length > start && value.endsWith(pad) ? -pad.length : undefined);
}

function schemaOf(tools: readonly ToolDescription[], tool: string, argument: string): JsonSchema {
  const { properties } = Object(tools.find(({ name }) => name === tool)?.inputSchema) as JsonSchema;
  const schema =
    isObject(properties) && Object.hasOwn(properties, argument) ? properties[argument] : undefined;
  return isObject(schema) ? (schema as JsonSchema) : {};
}

/**
 * A value from its text. Texts have no quotes, so the type that the model or the schema gives decides.
 * @param type As the model wrote it: the JSON type, or whether the value is a text (`true`, `false`).
 */
function readValue(written: string, type: string | undefined, schema: JsonSchema): unknown {
  if (type === 'string' || type === 'true') return written;
  const types = typesOf(schema);
  if (type === undefined && types.size === 1 && types.has('string')) return written;
  const value = readUntyped(written);
  const isText = typeof value === 'string' && value === written;
  // An enumeration of texts may have "true" or "3".
  const { enum: values } = schema;
  if (!isText && Array.isArray(values) && values.includes(written) && !values.includes(value)) return written;
  return value;
}

/** JSON, a value of Python, or the text itself. */
function readUntyped(written: string): unknown {
  const text = written.trim();
  if (/^-?\d+$/.test(text)) return readNumber(text);
  try {
    return parseJson(text);
  } catch (error) {
    if (!(error instanceof Unreadable)) throw error;
  }
  if (!/^(?:True|False|None|[[{(].*[\])}])$/s.test(text)) return written;
  try {
    const { value, end } = readLiteral(text, 0);
    return end === text.length ? value : written;
  } catch (error) {
    if (error instanceof Unreadable) return written;
    throw error;
  }
}

/** The JSON types that a schema allows; none if it does not say. */
function typesOf({ type, anyOf, oneOf, enum: values }: JsonSchema): Set<unknown> {
  const given = Array.isArray(type) ? type : type === undefined ? [] : [type];
  const branches = [anyOf, oneOf].flatMap((each) => (Array.isArray(each) ? each : []));
  const named = Array.isArray(values) && type === undefined ? values.map((each) => typeof each) : [];
  return new Set([...given, ...named, ...branches.flatMap((each) => [...typesOf(Object(each))])]);
}
