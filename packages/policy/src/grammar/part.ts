/** Parts: what a grammar is made of. A part is replaced by further parts, or reads a byte. */
import { type Bytes, bytesOf } from './token-bytes.ts';

/** Parts that follow each other. */
export type Sequence = readonly Part[];

export interface Part {
  /** Parts with equal keys of one grammar are equal. */
  readonly key: string;
  /** The sequences that the part stands for. Without it, the part reads a byte. */
  open?(): Sequence[];
  /** The sequences that may follow the byte. */
  read?(byte: number): Sequence[];
  /** Reads all tokens of such paths, as a `Reader` does. */
  takesAll?(held: number, longest: number): boolean;
  /** The turn may end here. */
  readonly mayEnd?: boolean;
  /** Tokens that add no text may come here. */
  readonly isText?: boolean;
}

/** Exactly these bytes. */
export function exactly(bytes: Bytes): Part {
  return {
    key: `=${bytes}`,
    read: (byte) => (byte === bytes.charCodeAt(0) ? [bytes.length > 1 ? [exactly(bytes.slice(1))] : []] : []),
  };
}

/**
 * One of the texts, and what follows it. It is one part, however many texts there are.
 * @param key Names the texts.
 */
export function among(
  key: string,
  texts: readonly { bytes: Bytes; after(): Sequence }[],
  read: Bytes = '',
): Part {
  return {
    key: `${key} ${read}`,
    read: (byte) => {
      const text = read + String.fromCharCode(byte);
      const left = texts.filter(({ bytes }) => bytes.charCodeAt(read.length) === byte);
      const sequences = left.filter(({ bytes }) => bytes === text).map(({ after }) => after());
      const longer = left.filter(({ bytes }) => bytes !== text);
      return longer.length > 0 ? [...sequences, [among(key, longer, text)]] : sequences;
    },
  };
}

/** One of the bytes. */
function oneOf(bytes: Bytes): Part {
  return { key: `|${bytes}`, read: (byte) => (bytes.includes(String.fromCharCode(byte)) ? [[]] : []) };
}

/** @param key Names the sequences. */
export function choice(key: string, sequences: () => Sequence[]): Part {
  return { key, open: sequences };
}

function optional(key: string, sequence: Sequence): Part {
  return choice(key, () => [[], sequence]);
}

/** At least `least` and at most `most` of the part. */
function repeated(part: Part, least: number, most: number): Part {
  return choice(`${least}-${most}${part.key}`, () => {
    const more = most > 0 ? [[part, repeated(part, Math.max(0, least - 1), most - 1)]] : [];
    return least > 0 ? more : [[], ...more];
  });
}

/**
 * White space between two parts of JSON: a space, or a line break or two and an indent, as llama.cpp allows. Some models would never end
 * it.
 */
export const space: Part = choice('space', () => [
  [],
  [exactly(' ')],
  [repeated(exactly('\n'), 1, 2), repeated(oneOf(' \t'), 0, 20)],
]);

const digit = oneOf('0123456789');
/** A double holds every integer of so many digits. */
const maxDigits = 15;
const whole: Sequence = [
  optional('minus', [exactly('-')]),
  choice('whole', () => [[exactly('0')], [oneOf('123456789'), repeated(digit, 0, maxDigits - 1)]]),
];
/** A double has no more digits. */
const fraction = optional('fraction', [exactly('.'), repeated(digit, 1, 16)]);
// JSON.parse makes infinity of larger exponents.
const exponent = optional('exponent', [oneOf('eE'), optional('sign', [oneOf('+-')]), repeated(digit, 1, 2)]);

export function number(isInteger: boolean): Sequence {
  return isInteger ? whole : [...whole, fraction, exponent];
}

const hex = oneOf('0123456789abcdefABCDEF');
/** After a backslash. Surrogates are left out, because half of a pair is not a character. */
export const escapedCharacter: Part = choice('escape', () => [
  [oneOf('"\\/bfnrt')],
  [exactly('u'), oneOf('0123456789abcefABCEF'), hex, hex, hex],
  [exactly('u'), oneOf('dD'), oneOf('01234567'), hex, hex],
]);

/** Texts that end or change a call, so that no string may have them. */
export type Markers = readonly Bytes[];

/** The longest end of the text that begins a marker. */
export function markerTail(text: Bytes, markers: Markers): Bytes {
  for (let from = 0; from < text.length; from++) {
    const tail = text.slice(from);
    if (markers.some((marker) => marker.startsWith(tail))) return tail;
  }
  return '';
}

/** A value as JSON. Markers in its strings are escaped. */
export function json(text: string, markers: Markers): Bytes {
  const escaped = (marker: string) => `\\u00${marker.charCodeAt(0).toString(16)}${marker.slice(1)}`;
  return bytesOf(markers.reduce((whole, marker) => whole.replaceAll(marker, escaped(marker)), text));
}
