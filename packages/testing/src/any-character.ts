/** anyCharacter: every character of Unicode, with the same chance. */
import fc, { type Arbitrary } from 'fast-check';

/** Surrogates are half characters: code points from 0xd800 to 0xdfff. */
const firstSurrogate = 0xd800;
const surrogates = 0x800;

/**
 * For `fc.string({ unit: anyCharacter })`. It draws the characters of fast-check's unit `binary`, which takes two seconds for its
 * first text, because it lists all characters.
 */
export const anyCharacter: Arbitrary<string> = fc.nat(0x10ffff - surrogates).map(
  (place) => String.fromCodePoint(place < firstSurrogate ? place : place + surrogates),
  (text) => {
    const point = String(text).codePointAt(0) ?? firstSurrogate;
    const isSurrogate = point >= firstSurrogate && point < firstSurrogate + surrogates;
    if (isSurrogate || String.fromCodePoint(point) !== text) throw new Error('This is not a character.');
    return point < firstSurrogate ? point : point - surrogates;
  },
);
