/** WordIndex: texts ranked by the words of a query (BM25: Robertson and Zaragoza 2009, section 3), with LanceDB's words and scores. */

/** How fast repetitions of a word saturate, and how much long texts lose. */
const [saturation, lengthWeight] = [1.2, 0.75];
/** LanceDB leaves out words of so many bytes and more. */
const tooLong = 40;

/** Ranks texts by the words of a query. The texts keep their places. */
export class WordIndex {
  /** Word → text → how often the text has the word. */
  readonly #counts: Map<string, Map<number, number>> = new Map();
  /** Of each text, in words. */
  readonly #lengths: readonly number[];
  readonly #meanLength: number;

  constructor(texts: readonly string[]) {
    this.#lengths = texts.map((text, id) => {
      const words = wordsOf(text);
      for (const word of words) {
        const counts = this.#counts.get(word) ?? new Map<number, number>();
        this.#counts.set(word, counts.set(id, (counts.get(id) ?? 0) + 1));
      }
      return words.length;
    });
    this.#meanLength = this.#lengths.reduce((sum, length) => sum + length, 0) / texts.length;
  }

  /** The scores of the texts that have a word of the query, by their places. */
  scores(query: string): Map<number, number> {
    const scores = new Map<number, number>();
    for (const word of new Set(wordsOf(query))) {
      const counts = this.#counts.get(word) ?? new Map<number, number>();
      const rarity = Math.log(1 + (this.#lengths.length - counts.size + 0.5) / (counts.size + 0.5));
      for (const [id, count] of counts) {
        const length = 1 - lengthWeight + lengthWeight * (this.#lengths[id]! / this.#meanLength);
        const score = (rarity * count * (saturation + 1)) / (count + saturation * length);
        scores.set(id, (scores.get(id) ?? 0) + score);
      }
    }
    return scores;
  }
}

/** Runs of letters and digits, in lower case and without accents. */
function wordsOf(text: string): string[] {
  const words = text.match(/[\p{Alphabetic}\p{N}]+/gu) ?? [];
  return words
    .filter((word) => new TextEncoder().encode(word).length < tooLong)
    .map((word) => word.toLowerCase().normalize('NFD').replaceAll(/\p{M}/gu, ''));
}
