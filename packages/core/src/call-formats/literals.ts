/** Values as Python writes them, and as Gemma 4 does. JSON is read too. */
import { argumentBounds } from '../schemas/json-bounds.ts';
import { integerMistake, unsafeInteger } from '../schemas/json-text.ts';
import { skipSpace } from './json-end.ts';
import { Unreadable } from './unreadable.ts';

/** How texts and keys are written. */
export interface LiteralStyle {
  /** The marks of a text, which has no escapes. Default: quotes, with escapes. */
  quote?: string;
  /** Whether keys have no quotes. */
  bareKeys?: boolean;
}

const words: Record<string, unknown> = {
  true: true,
  false: false,
  null: null,
  True: true,
  False: false,
  None: null,
};
const escapes: Record<string, string> = {
  n: '\n',
  t: '\t',
  r: '\r',
  b: '\b',
  f: '\f',
  v: '\v',
  a: '\x07',
  '0': '\0',
};

/**
 * The value at `at`.
 * @throws Unreadable if there is none, or if it nests too deeply.
 */
export function readLiteral(
  text: string,
  at: number,
  style: LiteralStyle = {},
  depth = 0,
): { value: unknown; end: number } {
  if (depth > argumentBounds.depth)
    throw new Unreadable(`Give arguments of at most ${argumentBounds.depth} levels of arrays and objects.`);
  const start = skipSpace(text, at);
  const first = text[start];
  if (style.quote ? text.startsWith(style.quote, start) : first === '"' || first === "'")
    return readText(text, start, style);
  if (first === '[' || first === '(') {
    const value: unknown[] = [];
    const end = readItems(text, start + 1, first === '[' ? ']' : ')', (place) => {
      const item = readLiteral(text, place, style, depth + 1);
      value.push(item.value);
      return item.end;
    });
    return { value, end };
  }
  if (first === '{') {
    const value: Record<string, unknown> = {};
    const end = readItems(text, start + 1, '}', (place) => {
      const key = readKey(text, place, style);
      const item = readLiteral(text, key.end, style, depth + 1);
      put(value, key.value, item.value);
      return item.end;
    });
    return { value, end };
  }
  const plain = /[\w.+-]+/y;
  plain.lastIndex = start;
  const word = plain.exec(text)?.[0] ?? '';
  if (Object.hasOwn(words, word)) return { value: words[word], end: plain.lastIndex };
  if (/^-?\d+(?:\.\d*)?(?:[eE][+-]?\d+)?$/.test(word) && Number.isFinite(Number(word)))
    return { value: readNumber(word), end: plain.lastIndex };
  throw new Unreadable(`Not a value: ${text.slice(start, start + 40)}`);
}

/** Sets an own property, `__proto__` too. */
export function put(object: Record<string, unknown>, key: string, value: unknown): void {
  Object.defineProperty(object, key, { value, writable: true, enumerable: true, configurable: true });
}

/** @throws Unreadable for an integer that a number cannot hold. */
export function readNumber(written: string): number {
  const integer = unsafeInteger(written);
  if (integer !== undefined) throw new Unreadable(integerMistake(integer));
  return Number(written);
}

/** Reads items up to `close`, with commas between them. @returns The position behind `close`. */
export function readItems(text: string, at: number, close: string, item: (place: number) => number): number {
  let place = skipSpace(text, at);
  while (!text.startsWith(close, place)) {
    place = skipSpace(text, item(place));
    if (text[place] === ',') place = skipSpace(text, place + 1);
    else if (!text.startsWith(close, place)) throw new Unreadable(`Write , or ${close} after a value.`);
  }
  return place + close.length;
}

function readKey(text: string, at: number, style: LiteralStyle): { value: string; end: number } {
  const start = skipSpace(text, at);
  if (style.bareKeys && !(style.quote && text.startsWith(style.quote, start))) {
    const colon = text.indexOf(':', start);
    if (colon < 0) throw new Unreadable('Write : after a name.');
    return { value: text.slice(start, colon).trim(), end: colon + 1 };
  }
  const key = readLiteral(text, start, style);
  const colon = skipSpace(text, key.end);
  if (text[colon] !== ':') throw new Unreadable('Write : after a name.');
  return { value: String(key.value), end: colon + 1 };
}

function readText(text: string, start: number, { quote }: LiteralStyle): { value: string; end: number } {
  if (quote) {
    const end = text.indexOf(quote, start + quote.length);
    if (end < 0) throw new Unreadable(`A text lacks its closing ${quote}.`);
    return { value: text.slice(start + quote.length, end), end: end + quote.length };
  }
  const mark = text[start];
  let value = '';
  for (let i = start + 1; i < text.length; i++) {
    const character = text[i]!;
    if (character === mark) return { value, end: i + 1 };
    if (character !== '\\') {
      value += character;
      continue;
    }
    i += 1;
    const code = /x([0-9a-fA-F]{2})|u([0-9a-fA-F]{4})|U([0-9a-fA-F]{8})/y;
    code.lastIndex = i;
    const coded = code.exec(text);
    const point = Number.parseInt(coded?.slice(1).find(Boolean) ?? '', 16);
    if (coded && point <= 0x10ffff) {
      value += String.fromCodePoint(point);
      i = code.lastIndex - 1;
    } else value += escapes[text[i] ?? ''] ?? text[i] ?? '';
  }
  throw new Unreadable(`A text lacks its closing ${mark}.`);
}
