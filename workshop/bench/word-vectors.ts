/** Vectors of texts without a model: random projections of the words. Texts that share rare words are near. */

export const dimensions = 64;

/** @param weightOf The weight of a word: greater for rarer words. @returns A vector of length 1. */
export function embed(text: string, weightOf: (word: string) => number): Float32Array {
  const vector = new Float32Array(dimensions);
  for (const word of text.toLowerCase().match(/[0-9a-z]+/g) ?? []) {
    const weight = weightOf(word);
    let bits = hash(word);
    for (let i = 0; i < dimensions; i++) {
      // A linear congruential generator per word; its highest bit is the sign.
      bits = (Math.imul(bits, 1_664_525) + 1_013_904_223) | 0;
      vector[i]! += bits < 0 ? -weight : weight;
    }
  }
  const length = Math.hypot(...vector) || 1;
  return vector.map((value) => value / length);
}

/** FNV-1a, 32 bits. */
function hash(word: string): number {
  let bits = 0x811c9dc5;
  for (let i = 0; i < word.length; i++) bits = Math.imul(bits ^ word.charCodeAt(i), 0x01000193);
  return bits;
}
