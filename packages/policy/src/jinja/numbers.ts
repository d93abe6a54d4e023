/** Numbers as Python reads and rounds them. */
import type { Meter } from './meter.ts';
import { strip } from './methods.ts';
import { numberOf, textOf, type Value } from './values.ts';

/** `float(value)`; `undefined` where Python refuses. */
export function floatOf(value: Value, meter: Meter): number | undefined {
  const text = textOf(value);
  if (text === undefined) return numberOf(value);
  meter.read(text);
  const trimmed = strip(text, undefined).toLowerCase();
  const special = /^([-+]?)(inf(?:inity)?|nan)$/.exec(trimmed);
  if (special) return special[2] === 'nan' ? Number.NaN : special[1] === '-' ? -Infinity : Infinity;
  const isFloating = /^[-+]?(?:\d+(?:_\d+)*\.?(?:\d+(?:_\d+)*)?|\.\d+(?:_\d+)*)(?:e[-+]?\d+)?$/.test(trimmed);
  return isFloating ? Number(trimmed.replaceAll('_', '')) : undefined;
}

/** `int(text, base)`; `undefined` where Python refuses. */
export function parseInteger(text: string, base: number): number | undefined {
  const [, sign, prefix, digits] =
    /^([-+]?)(0[xob])?([\da-z]+(?:_[\da-z]+)*)$/.exec(strip(text, undefined).toLowerCase()) ?? [];
  if (digits === undefined) return undefined;
  const prefixed = { '0x': 16, '0o': 8, '0b': 2 }[prefix ?? ''];
  const radix = base === 0 ? (prefixed ?? 10) : base;
  if (prefixed !== undefined && prefixed !== radix) return undefined;
  let number = 0;
  for (const digit of digits.replaceAll('_', '')) {
    const worth = Number.parseInt(digit, 36);
    if (worth >= radix) return undefined;
    number = number * radix + worth;
  }
  return sign === '-' ? -number : number;
}

/** `round(number, digits)`, which rounds exact halves to the even neighbour. */
export function roundHalfEven(number: number, digits: number): number {
  if (Math.abs(digits) > 100) throw new RangeError('a number has more than 100 digits');
  if (digits > 0 && Math.abs(number) < 1e21) {
    // All digits of the number, or the first hundred of a tiny one.
    const exact = number.toFixed(100);
    const end = exact.indexOf('.') + 1 + digits;
    const isEvenHalf = /^50*$/.test(exact.slice(end)) && Number(exact[end - 1]) % 2 === 0;
    return Number(isEvenHalf ? exact.slice(0, end) : number.toFixed(digits));
  }
  return digits > 0 ? number : halfToEven(number / 10 ** -digits) * 10 ** -digits;
}

function halfToEven(number: number): number {
  const floor = Math.floor(number);
  const rest = number - floor;
  return rest < 0.5 || (rest === 0.5 && floor % 2 === 0) ? floor : floor + 1;
}
