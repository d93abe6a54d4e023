/** findWords: where a text has an answer as whole words. */

/** The place in `text` after NFKC, ignoring case; -1 if there is none. */
export function findWords(text: string, words: string): number {
  const escaped = words.normalize('NFKC').replace(/[.*+?^${}()|[\]\\]/g, '\\$&');
  const pattern = new RegExp(`(?<![\\p{L}\\p{N}])${escaped}(?![\\p{L}\\p{N}])`, 'iu');
  return text.normalize('NFKC').search(pattern);
}
