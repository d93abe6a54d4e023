/** JsonGrammar: the JSON of values of given shapes. */
import {
  among,
  choice,
  escapedCharacter,
  exactly,
  json,
  type Markers,
  markerTail,
  number,
  type Part,
  type Sequence,
  space,
} from './part.ts';
import { below } from './token-trie.ts';
import {
  type ArrayShape,
  heightOf,
  maxLevels,
  type ObjectShape,
  type Shape,
  type Value,
} from './value-shapes.ts';

export class JsonGrammar {
  readonly #markers: Markers;
  /** Distinguishes the values of different tools. */
  readonly #name: string;
  readonly #ids: Map<object, number> = new Map();

  constructor(name: string, markers: Markers) {
    this.#name = name;
    this.#markers = markers;
  }

  /** @param level Arrays and objects around the value. */
  value(value: Value, level = 0): Part {
    return choice(this.#key('value', value, level), () =>
      value.shapes
        .filter((shape) => level + heightOf(shape) <= maxLevels)
        .map((shape) => this.#sequence(shape, level)),
    );
  }

  #sequence(shape: Shape, level: number): Sequence {
    switch (shape.kind) {
      case 'listed': {
        const texts = shape.texts.map((text) => ({ bytes: json(text, this.#markers), after: () => [] }));
        return [among(this.#key('listed', shape, 0), texts)];
      }
      case 'string':
        return [exactly('"'), characters({ ...shape, markers: this.#markers, hasEscapes: true })];
      case 'number':
        return number(shape.isInteger);
      case 'array':
        return [exactly('['), space, this.#items(shape, 0, level + 1)];
      case 'object':
        return [exactly('{'), space, this.#members(shape, 0n, level + 1, 'first')];
    }
  }

  /** The items from number `index` on, and the bracket. */
  #items(shape: ArrayShape, index: number, level: number): Part {
    const { first, rest, min, max } = shape;
    return choice(this.#key('items', shape, level, index), () => {
      const end = index >= min ? [[exactly(']')]] : [];
      const value = index < first.length ? first[index] : rest;
      if (index >= max || !this.#fits(value, level)) return end;
      // Beyond the last number that matters, all are alike.
      const last = Number.isFinite(max) ? max : Math.max(1, min, first.length);
      const next = this.#items(shape, Math.min(index + 1, last), level);
      const item = [this.value(value, level), space, next];
      return [...end, index === 0 ? item : [exactly(','), space, ...item]];
    });
  }

  /**
   * The members, in any order, and the brace.
   * @param seen A bit for each property that was written.
   * @param place Whether a member may come at once, must come (after a comma), or needs a comma.
   */
  #members(shape: ObjectShape, seen: bigint, level: number, place: 'first' | 'next' | 'after'): Part {
    const { properties, rest } = shape;
    return choice(this.#key(place, shape, level, seen.toString(36)), () => {
      const isComplete = properties.every(({ isRequired }, i) => !isRequired || (seen >> BigInt(i)) & 1n);
      const sequences: Sequence[] = isComplete && place !== 'next' ? [[exactly('}')]] : [];
      const open = properties.flatMap((property, i) =>
        !((seen >> BigInt(i)) & 1n) && this.#fits(property.value, level) ? [{ ...property, i }] : [],
      );
      const canHaveMore = open.length > 0 || this.#fits(rest, level);
      if (place === 'after')
        return canHaveMore
          ? [...sequences, [exactly(','), space, this.#members(shape, seen, level, 'next')]]
          : sequences;
      const named = open.map(({ name, value, i }) => ({
        bytes: json(JSON.stringify(name), this.#markers),
        after: () => this.#member(shape, value, seen | (1n << BigInt(i)), level),
      }));
      if (named.length > 0)
        sequences.push([among(this.#key('names', shape, level, seen.toString(36)), named)]);
      if (this.#fits(rest, level))
        sequences.push([exactly('"'), this.#otherName(shape), ...this.#member(shape, rest, seen, level)]);
      return sequences;
    });
  }

  /** What follows the name of a member. */
  #member(shape: ObjectShape, value: Value, seen: bigint, level: number): Sequence {
    const after = this.#members(shape, seen, level, 'after');
    return [space, exactly(':'), space, this.value(value, level), space, after];
  }

  /** A name that is none of the listed ones, and its quote. Without escapes, which could spell a listed name. */
  #otherName(shape: ObjectShape): Part {
    const listed = shape.properties.map(({ name }) => json(JSON.stringify(name), this.#markers).slice(1));
    const anyLength = { min: 0, max: Number.POSITIVE_INFINITY };
    const any = characters({ ...anyLength, markers: this.#markers, hasEscapes: false });
    const after = (begun: string): Part => ({
      key: this.#key('name', shape, 0, begun),
      read: (byte) => {
        const text = begun + String.fromCharCode(byte);
        if (listed.includes(text)) return [];
        if (byte !== 0x22 && byte !== 0x5c && listed.some((name) => name.startsWith(text)))
          return [[after(text)]];
        let sequences: Sequence[] = [[any]];
        for (const each of text)
          sequences = sequences.flatMap(([part]) => part?.read?.(each.charCodeAt(0)) ?? []);
        return sequences;
      },
    });
    return after('');
  }

  #fits(value: Value | undefined, level: number): value is Value {
    return value !== undefined && level + value.height <= maxLevels;
  }

  #key(kind: string, of: object, level: number, more: string | number = ''): string {
    const id = this.#ids.get(of) ?? this.#ids.size;
    this.#ids.set(of, id);
    return `${this.#name} ${kind} ${id} ${level} ${more}`;
  }
}

interface Characters {
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
function characters(of: Characters, tail = '', rest: Rest = { count: 0, ...anyRest }): Part {
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
