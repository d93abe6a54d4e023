/** Reads the value of an answer as people and models write it, exactly and without `eval`. */
import { add, divide, negate, type Rational, rational } from './rational.ts';

/** A value, and whether a percent sign follows it. */
export interface ReadValue {
  value: Rational;
  percent: boolean;
}

/** Longer answers are no numbers. The bound keeps whole numbers small, and nested fractions shallow. */
const maxCharacters = 200;

/** What an answer says: in the last `\boxed{}`, after the last `Answer:`, or in the last line. */
export function finalAnswer(text: string): string {
  const boxed = text.lastIndexOf('\\boxed{');
  if (boxed >= 0) return braced(text, boxed + '\\boxed'.length)?.content ?? '';
  const last = text.trimEnd().split('\n').at(-1)!;
  const named = last.toLowerCase().lastIndexOf('answer:');
  return named >= 0 ? last.slice(named + 'answer:'.length) : last;
}

/**
 * The value of an answer: `3`, `x = -0.75`, `1,234.5`, `1 1/2`, `7/3`, `\frac{7}{3}`, `25 %`, `$12`, `3.5 \text{ km}`, `1.2e3`.
 * @param units What may stand before or behind the number.
 * @returns `undefined` for anything else.
 */
export function readValue(answer: string, units: readonly string[] = []): ReadValue | undefined {
  if (answer.length > maxCharacters) return undefined;
  let text = plain(answer).replace(/^[a-z]\w{0,9}\s*(?:=|is)\s*/i, '');
  for (const unit of [...units].sort((a, b) => b.length - a.length)) {
    const [before, after] = [text, text.toLowerCase()];
    if (after.endsWith(unit) && after !== unit) text = before.slice(0, -unit.length).trim();
    else if (after.startsWith(unit)) text = before.slice(unit.length).trim();
    // A minus sign before the sign of a currency.
    else if (after.startsWith(`-${unit}`)) text = `-${before.slice(unit.length + 1).trim()}`;
    if (text !== before) break;
  }
  const percent = /\s*(?:%|percent)$/i.exec(text);
  if (percent) text = text.slice(0, percent.index);
  const read = signed(text);
  return read?.rest === '' ? { value: read.value, percent: percent !== null } : undefined;
}

/** The answer without marks of LaTeX and Markdown. */
function plain(answer: string): string {
  return answer
    .replace(/(\d)(?:\{,\}|\\[,;]|[\u00a0\u2009\u202f])(?=\d{3}(?!\d))/g, '$1,')
    .replace(/\\[()[\],;!]|\\left|\\right|\*\*|`/g, ' ')
    .replace(/\\(?:text|mathrm)\{([^{}]*)\}/g, '$1')
    .replace(/\\([%$])/g, '$1')
    .replace(/^\s*\$(.*)\$\s*\.?\s*$/s, '$1')
    .replace(/[\u2212\u2013]/g, '-')
    .replace(/\s+/g, ' ')
    .trim()
    .replace(/\.$/, '')
    .trim();
}

interface Read {
  value: Rational;
  rest: string;
}

function signed(text: string): Read | undefined {
  const sign = /^[+-]/.exec(text)?.[0];
  const read = unsigned(sign ? text.slice(1).trimStart() : text);
  return read && sign === '-' ? { ...read, value: negate(read.value) } : read;
}

function unsigned(text: string): Read | undefined {
  const whole = fraction(text) ?? decimal(text);
  if (!whole) return undefined;
  const rest = whole.rest.trimStart();
  const divisor = rest.startsWith('/') ? decimal(rest.slice(1).trimStart()) : undefined;
  if (divisor) {
    const value = divide(whole.value, divisor.value);
    return value && { value, rest: divisor.rest };
  }
  // A mixed number: a proper fraction behind a whole number.
  const part = fraction(rest) ?? (/^\d+ ?\/ ?\d/.test(rest) ? unsigned(rest) : undefined);
  if (!part) return { value: whole.value, rest };
  const isMixed =
    /^\d+\s*$/.test(text.slice(0, text.length - rest.length)) &&
    part.value.numerator < part.value.denominator &&
    part.value.numerator > 0n;
  return isMixed ? { value: add(whole.value, part.value), rest: part.rest } : undefined;
}

/** `\frac{1}{2}`, `\frac12`. */
function fraction(text: string): Read | undefined {
  const name = /^\\[dt]?frac\s*/.exec(text)?.[0];
  if (name === undefined) return undefined;
  const above = argument(text, name.length);
  const below = above && argument(text, above.end);
  if (!below) return undefined;
  const [numerator, denominator] = [above, below].map(({ content }) => signed(content.trim()));
  if (numerator?.rest !== '' || denominator?.rest !== '') return undefined;
  const value = divide(numerator.value, denominator.value);
  return value && { value, rest: text.slice(below.end) };
}

function decimal(text: string): Read | undefined {
  const found = /^(\d{1,3}(?:,\d{3})+|\d*)(?:\.(\d*))?(?:e([+-]?\d{1,2})(?![\d.]))?/i.exec(text);
  const [all = '', digits = '', decimals = '', exponent = '0'] = found ?? [];
  if (digits === '' && decimals === '') return undefined;
  const power = Number(exponent) - decimals.length;
  const number = BigInt(digits.replaceAll(',', '') + decimals);
  const scale = 10n ** BigInt(Math.abs(power));
  const value = power < 0 ? rational(number, scale) : rational(number * scale);
  return { value, rest: text.slice(all.length) };
}

/** What stands in braces at a place, or the one digit there. */
function argument(text: string, at: number): { content: string; end: number } | undefined {
  if (/\d/.test(text[at] ?? '')) return { content: text[at]!, end: at + 1 };
  return braced(text, at);
}

function braced(text: string, at: number): { content: string; end: number } | undefined {
  if (text[at] !== '{') return undefined;
  for (let end = at, depth = 0; end < text.length; end++) {
    if (text[end] === '{') depth += 1;
    if (text[end] === '}') depth -= 1;
    if (depth === 0) return { content: text.slice(at + 1, end), end: end + 1 };
  }
  return undefined;
}
