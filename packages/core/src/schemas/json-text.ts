/** Reads JSON that may be malformed, and JSON whose integers must not be rounded. */
import { excerpt } from '../protocol/excerpt.ts';

/** The value of a JSON text; `undefined` if the text is not JSON. */
export function tryJson(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return undefined;
  }
}

/** Whether a value is an object and not an array. */
export function isObject(value: unknown): value is Record<string, unknown> {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}

/** The object of a JSON text; `undefined` if the text is not a JSON object. */
export function tryObject(text: string): Record<string, unknown> | undefined {
  const value = tryJson(text);
  return isObject(value) ? value : undefined;
}

/**
 * The first integer of a JSON text that a number of JavaScript cannot hold, as it is written. Such an integer is beyond ±(2⁵³ − 1), and
 * `JSON.parse` rounds it: `2512292042121000001` becomes 2512292042121000000. A number with a fraction or an exponent does not count as an integer.
 */
export function unsafeInteger(text: string): string | undefined {
  const { value } = unsafeIntegers(text).next();
  return value?.integer;
}

/** Whether a value is the text of an integer that a number would round. */
export function isLongInteger(value: unknown): value is string {
  return typeof value === 'string' && unsafeInteger(value) === value;
}

/** Says to a model what is wrong with an integer of {@link unsafeInteger}, and what to write instead. */
export function integerMistake(integer: string | bigint): string {
  return `The integer ${excerpt(String(integer))} is beyond ±${Number.MAX_SAFE_INTEGER}, where numbers are rounded: write it as a string.`;
}

/**
 * The value of a JSON text. An integer that a number would round is a bigint, which nothing takes for JSON: {@link jsonMistake} names it, and
 * `JSON.stringify` throws. Use {@link bigintsAs} where an integer may be rounded or may be a text.
 * @param settle Gets a value that has a bigint, and returns the value to use.
 * @throws SyntaxError if the text is not JSON.
 */
export function exactJson(text: string, settle: (value: unknown) => unknown = (value) => value): unknown {
  let marked = '';
  let end = 0;
  for (const { start, integer } of unsafeIntegers(text)) {
    marked += `${text.slice(end, start)}"${mark}${integer}"`;
    end = start + integer.length;
  }
  if (end === 0) return JSON.parse(text);
  const value: unknown = JSON.parse(marked + text.slice(end), (_, part: unknown) =>
    typeof part === 'string' && part.startsWith(mark) ? BigInt(part.slice(mark.length)) : part,
  );
  return settle(value);
}

/**
 * A copy of a value of {@link exactJson} in which each bigint is its digits, or the nearest number.
 * @param except Names of properties, at any depth, that stay as they are.
 */
export function bigintsAs(form: 'text' | 'number', value: unknown, ...except: string[]): unknown {
  if (typeof value === 'bigint') return form === 'text' ? String(value) : Number(value);
  if (Array.isArray(value)) return value.map((item) => bigintsAs(form, item, ...except));
  if (!isObject(value)) return value;
  return Object.fromEntries(
    Object.entries(value).map(([name, part]) => [
      name,
      except.includes(name) ? part : bigintsAs(form, part, ...except),
    ]),
  );
}

/** The JSON text of a value of {@link exactJson}, with its integers as they were written. */
export function exactJsonText(value: unknown): string {
  const text = JSON.stringify(value, (_, part) => (typeof part === 'bigint' ? mark + part : part));
  return text.replaceAll(new RegExp(`"${mark}(-?\\d+)"`, 'g'), '$1');
}

/**
 * The value of a JSON text. An integer that a number would round is the text of its digits, for which {@link isLongInteger} holds.
 * @throws SyntaxError if the text is not JSON.
 */
export function jsonWithDigits(text: string): unknown {
  return exactJson(text, (value) => bigintsAs('text', value));
}

/** As {@link jsonWithDigits}; `undefined` if the text is not JSON. */
export function tryJsonWithDigits(text: string): unknown {
  try {
    return jsonWithDigits(text);
  } catch {
    return undefined;
  }
}

/** Begins the strings that stand for integers while a text is parsed. No text can know it. */
const mark = `integer-${Math.random().toString(36).slice(2)}${Math.random().toString(36).slice(2)}-`;

function* unsafeIntegers(text: string): Generator<{ start: number; integer: string }, undefined> {
  // Most texts have no such number. Fractions, as of embeddings, have as many digits.
  if (!/(?<![\d.])\d{16}/.test(text)) return;
  const token = /-?\d+(?:\.\d+)?(?:[eE][+-]?\d+)?/y;
  for (let i = 0; i < text.length; i++) {
    const character = text[i]!;
    if (character === '"') i = endOfString(text, i);
    else if (character === '-' || (character >= '0' && character <= '9')) {
      token.lastIndex = i;
      const [number = character] = token.exec(text) ?? [];
      if (isUnsafe(number)) yield { start: i, integer: number };
      i += number.length - 1;
    }
  }
}

function endOfString(text: string, start: number): number {
  for (let end = text.indexOf('"', start + 1); end >= 0; end = text.indexOf('"', end + 1)) {
    let before = end;
    while (text[before - 1] === '\\') before--;
    if ((end - before) % 2 === 0) return end;
  }
  return text.length;
}

/** Whether a number would write other digits. JavaScript's own integers beyond 2⁵³, such as 10²⁰, come back as they were written. */
function isUnsafe(number: string): boolean {
  return number.length >= 16 && /^-?\d+$/.test(number) && String(Number(number)) !== number;
}
