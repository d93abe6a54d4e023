/** Compares exact match and F1 with the official scripts of HotpotQA, 2WikiMultihopQA and MuSiQue, which Python runs. */
import { join } from 'node:path';
import { createRng, type Rng } from '@toolenv/core';
import { type AnswerScore, exactMatch, f1Score, musiqueF1Score, normalizeAnswer } from '@toolenv/envs-qa';
import { check } from '../check.ts';
import { jsonOf } from '../programs.ts';

type AnswerPair = [prediction: string, gold: string[]];

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
function answerPairs(count: number, characters: readonly string[], rng: Rng): AnswerPair[] {
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

/** Of each dataset. */
const pairCount = 20_000;

const f1: Readonly<Record<string, AnswerScore>> = {
  hotpotqa: f1Score,
  '2wikimultihopqa': f1Score,
  musique: musiqueF1Score,
};

interface Characters {
  /** Version of Python's Unicode. */
  unicode: string;
  /** `isWord`: whether the lower case ends in a character of a word. */
  rows: [code: number, isSpace: boolean, isWord: boolean, lower: string][];
}

/** @param python A plain Python 3. */
export async function checkScores(python: string): Promise<void> {
  const script = join(import.meta.dirname, 'official_scores.py');
  const { unicode, rows } = await jsonOf<Characters>(python, [script], { ask: 'characters' });
  checkCharacters(rows, unicode);
  // Lone surrogates cannot be written to a pipe as UTF-8.
  const characters = rows.map(([code]) => String.fromCodePoint(code)).filter((c) => !/^\p{Cs}$/u.test(c));
  const pairs = Object.fromEntries(
    Object.keys(f1).map((name) => [name, answerPairs(pairCount, characters, createRng(1, 'answers', name))]),
  );
  type Scores = Record<string, [em: number, f1: number][]>;
  const theirs = await jsonOf<Scores>(python, [script], { ask: 'scores', pairs });
  for (const name of Object.keys(f1)) compare(name, pairs[name]!, theirs[name]!);
}

function compare(name: string, pairs: AnswerPair[], theirs: [em: number, f1: number][]): void {
  const wrong: string[] = [];
  for (const [i, [prediction, golds]] of pairs.entries()) {
    const ours = [exactMatch(prediction, golds), f1[name]!(prediction, golds)];
    // The same operations on the same numbers: equal to the last bit.
    if (ours[0] === theirs[i]![0] && ours[1] === theirs[i]![1]) continue;
    wrong.push(`${JSON.stringify(pairs[i])}: ours ${ours}, theirs ${theirs[i]}`);
  }
  const matches = theirs.filter(([em]) => em === 1).length;
  const partial = theirs.filter(([em, score]) => em === 0 && score > 0).length;
  const title = `${name}: EM and F1 of ${pairs.length} pairs, ${matches} of them equal and ${partial} similar`;
  const otherwise = `${wrong.length} disagree, as ${wrong[0]}`;
  check(pairs.length === pairCount && theirs.length === pairCount && wrong.length === 0, title, otherwise);
}

/** Each character as white space, as part of a word beside an article, and in lower case. */
function checkCharacters(rows: Characters['rows'], unicode: string): void {
  const wrong: string[] = [];
  for (const [code, isSpace, isWord, lower] of rows) {
    const character = String.fromCodePoint(code);
    const isPunctuation = /^[!-/:-@[-`{-~]$/.test(character);
    const separates = normalizeAnswer(`x${character}y`) === 'x y';
    // An article beside a letter is no article. Punctuation is removed before articles are.
    const joins = normalizeAnswer(`${character}the`).includes('the');
    const isEqual =
      separates === isSpace && joins === (isWord && !isPunctuation) && character.toLowerCase() === lower;
    if (!isEqual) wrong.push(`U+${code.toString(16)}`);
  }
  const title = `${rows.length} characters of Unicode ${unicode}: white space, words and lower case`;
  check(wrong.length === 0, title, `${wrong.length} disagree: ${wrong.slice(0, 20).join(' ')}`);
}
