/** Finds where a JSON value ends in a longer text, and reads it. Texts inside of JSON strings end nothing. */
import { messageOf } from '../protocol/errors.ts';
import { argumentBounds, jsonMistake } from '../schemas/json-bounds.ts';
import { integerMistake, unsafeInteger } from '../schemas/json-text.ts';
import { Unreadable } from './unreadable.ts';

/** JSON's white space. */
export function skipSpace(text: string, at: number): number {
  let end = at;
  while (end < text.length && ' \n\r\t'.includes(text[end]!)) end += 1;
  return end;
}

/** Where the JSON value that begins at `at` ends; `undefined` if it does not. Says nothing of whether it is JSON. */
function jsonEnd(text: string, at: number): number | undefined {
  const first = text[at];
  if (first !== '{' && first !== '[' && first !== '"') {
    const scalar = /[\w.+-]+/y;
    scalar.lastIndex = at;
    return scalar.test(text) ? scalar.lastIndex : undefined;
  }
  let depth = 0;
  let inString = false;
  for (let i = at; i < text.length; i++) {
    const character = text[i];
    if (inString) {
      if (character === '\\') i += 1;
      else if (character === '"') inString = false;
    } else if (character === '"') inString = true;
    else if (character === '{' || character === '[') depth += 1;
    else if (character === '}' || character === ']') depth -= 1;
    if (depth === 0 && !inString) return i + 1;
  }
  return undefined;
}

/**
 * The JSON value at `at`, whose arguments are `outer` levels deep in it.
 * @throws Unreadable if it is not JSON within the bounds of arguments.
 */
export function readJson(text: string, at: number, outer = 0): { value: unknown; end: number } {
  const start = skipSpace(text, at);
  const end = jsonEnd(text, start);
  return { value: parseJson(text.slice(start, end), outer), end: end ?? text.length };
}

/** @throws Unreadable as {@link readJson}. */
export function parseJson(text: string, outer = 0): unknown {
  let value: unknown;
  try {
    value = JSON.parse(text);
  } catch (error) {
    throw new Unreadable(`Not JSON: ${messageOf(error)}.`);
  }
  const integer = unsafeInteger(text);
  if (integer !== undefined) throw new Unreadable(integerMistake(integer));
  const { depth } = argumentBounds;
  const wrong = jsonMistake(value, { depth: depth + outer, characters: Number.POSITIVE_INFINITY });
  if (!wrong) return value;
  // JSON.parse makes Infinity of 1e999.
  if (wrong.expected === 'JSON') throw new Unreadable('Give numbers that JSON can hold.');
  throw new Unreadable(`Give arguments of at most ${depth} levels of arrays and objects.`);
}
