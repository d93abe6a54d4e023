/** Pairs of a prediction and gold answers that look for differences between two implementations of a score. */
import type { Rng } from '@toolenv/core';

export type AnswerPair = [prediction: string, gold: string[]];

/** Words that scripts treat in their own way. */
const words = [
  'a|an|the|The|AN|A|yes|no|Yes|NO.|noanswer|yes no||Silver|Harbour|harbour|U.S.A.|usa|rock-and-roll|1,776|1776',
  "a_b|o'clock|anthem|theatre|é|É|e\u0301|ΟΔΟΣ|Σ|ΑΣ.|İstanbul|ǅ|ß|ẞ|ﬁ|K|北京|ไทย|हिन्दी|١٢٣|²|Ⅷ|𝒜|😀",
  'a\u0301|the\u200d|é the|theé|٣the|a²|—the—|“an”|«a»|the’s',
].flatMap((line) => line.split('|'));

/** Python and JavaScript disagree about some of these. */
const separators = [
  ...' \t\n\v\f\r\x1c\x1d\x1e\x1f\x85\xa0\u1680\u180e\u2003\u200b\u2028\u2029\u202f\u205f\u2060\u3000\ufeff\x00\x08\x7f-._,',
  ...['  ', '\r\n', ' & ', ''],
];

/** @param characters Every character that may occur. */
export function answerPairs(count: number, characters: readonly string[], rng: Rng): AnswerPair[] {
  return Array.from({ length: count }, () => {
    const golds = Array.from({ length: 1 + (rng.float() < 0.5 ? 0 : rng.int(3)) }, () =>
      text(characters, rng),
    );
    const prediction = rng.float() < 0.6 ? altered(rng.pick(golds), characters, rng) : text(characters, rng);
    return [prediction, golds];
  });
}

function text(characters: readonly string[], rng: Rng): string {
  const parts: string[] = [];
  for (let left = rng.int(5); left > 0; left--) parts.push(part(characters, rng), rng.pick(separators));
  // A separator at the end, or none.
  return rng.float() < 0.5 ? parts.join('') : parts.slice(0, -1).join('');
}

function part(characters: readonly string[], rng: Rng): string {
  if (rng.float() < 0.7) return rng.pick(words);
  return Array.from({ length: 1 + rng.int(4) }, () => rng.pick(characters)).join('');
}

/** The gold answer with another case, another separator, an article, a lost or an added part. */
function altered(gold: string, characters: readonly string[], rng: Rng): string {
  switch (rng.int(7)) {
    case 0:
      return gold;
    case 1:
      return gold.toUpperCase();
    case 2:
      return gold.replaceAll(' ', () => rng.pick(separators));
    case 3:
      return `${rng.pick(['the', 'A', 'an'])}${rng.pick(separators)}${gold}`;
    case 4:
      return `${gold}${rng.pick(separators)}${part(characters, rng)}`;
    case 5:
      return gold.slice(0, rng.int(gold.length + 1)).replace(/[\ud800-\udbff]$/, '');
    default:
      return [...gold].reverse().join('');
  }
}
