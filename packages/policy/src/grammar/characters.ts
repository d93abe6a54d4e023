/** The characters of a JSON string in well-formed UTF-8, and the quote that ends it. */
import { escapedCharacter, type Markers, markerTail, type Part, type Sequence } from './part.ts';
import { below } from './token-trie.ts';

export interface Characters {
  /** How many characters must come, and how many may. */
  min: number;
  max: number;
  /** Texts that the string may not have. */
  markers: Markers;
  hasEscapes: boolean;
}

/** The bytes that are missing of a character, and the range of the next byte. */
interface Rest {
  count: number;
  low: number;
  high: number;
}

const anyRest = { low: 0x80, high: 0xbf };

/** @param tail The end of the text so far that begins a marker. */
export function characters(of: Characters, tail = '', rest: Rest = { count: 0, ...anyRest }): Part {
  const { min, max, markers, hasEscapes } = of;
  return {
    key: `"${min}-${max}${hasEscapes ? '' : '!'}${rest.count},${rest.low},${rest.high}${tail}`,
    read(byte): Sequence[] {
      if (rest.count > 0) {
        const isRight = byte >= rest.low && byte <= rest.high;
        return isRight ? [[characters(of, '', { count: rest.count - 1, ...anyRest })]] : [];
      }
      if (byte === 0x22) return min === 0 ? [[]] : [];
      if (max === 0) return [];
      const left = { ...of, min: Math.max(0, min - 1), max: max - 1 };
      if (byte === 0x5c) return hasEscapes ? [[escapedCharacter, characters(left)]] : [];
      const next = restOf(byte);
      if (!next) return [];
      const text = tail + String.fromCharCode(byte);
      return markers.includes(text) ? [] : [[characters(left, markerTail(text, markers), next)]];
    },
    takesAll: (held, longest) =>
      rest.count === 0 &&
      tail === '' &&
      longest <= max &&
      (held & (below.malformed | below.structure | below.marker)) === 0,
  };
}

/** What follows the first byte of a character; `undefined` if no character begins with the byte (RFC 3629). */
function restOf(byte: number): Rest | undefined {
  if (byte < 0x20) return undefined;
  if (byte < 0x80) return { count: 0, ...anyRest };
  if (byte < 0xc2 || byte > 0xf4) return undefined;
  if (byte < 0xe0) return { count: 1, ...anyRest };
  if (byte < 0xf0) return { count: 2, low: byte === 0xe0 ? 0xa0 : 0x80, high: byte === 0xed ? 0x9f : 0xbf };
  return { count: 3, low: byte === 0xf0 ? 0x90 : 0x80, high: byte === 0xf4 ? 0x8f : 0xbf };
}
