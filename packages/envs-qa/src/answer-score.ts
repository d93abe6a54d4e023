/**
 * Scores an answer by the official scripts: exact match and F1 of HotpotQA (`hotpot_evaluate_v1.py`), 2WikiMultihopQA
 * (`2wikimultihop_evaluate_v1.1.py`) and MuSiQue (`evaluate_v1.0.py`), and the substring score of retrieval papers. The three scripts
 * normalise alike, as SQuAD's does. Where a question has several gold answers, the best score counts. The scripts are Python, so text is
 * divided as Python's `str` and `re` do. Characters that a newer Unicode added than Python's own count as Python of that Unicode would
 * count them.
 */

/** A gold answer, or the gold answer and its aliases. */
export type GoldAnswers = string | readonly string[];

/** A number in [0, 1]. Without any gold answer it is 0. */
export type AnswerScore = (prediction: string, gold: GoldAnswers) => number;

const closed: readonly string[] = ['yes', 'no', 'noanswer'];

/** Where `str.split()` divides. JavaScript's `\s` lacks U+001C–1F and U+0085, and has U+FEFF. */
const whiteSpace =
  // biome-ignore lint/suspicious/noControlCharactersInRegex: Python counts these controls as white space.
  /[\t-\r\x1c-\x20\x85\xa0\u1680\u2000-\u200a\u2028\u2029\u202f\u205f\u3000]+/;
/** Python's `string.punctuation`: ASCII only. */
const punctuation = /[!-/:-@[-`{-~]/g;
/** `\b(a|an|the)\b`. Python's `\w` has the letters and numbers of every script; JavaScript's only those of ASCII. */
const articles = /(?<![\p{L}\p{N}_])(?:a|an|the)(?![\p{L}\p{N}_])/gu;

/** The answer in lower case, without punctuation and articles, with single spaces. */
export function normalizeAnswer(answer: string): string {
  return wordsOf(answer).join(' ');
}

/** 1 if the normalised answers are equal. The same in all three scripts. */
export const exactMatch: AnswerScore = (prediction, gold) =>
  best(prediction, gold, (predicted, wanted) => (isEqual(predicted, wanted) ? 1 : 0));

/**
 * F1 of the bags of words, as HotpotQA and 2WikiMultihopQA compute it: 0 if one answer is yes, no or noanswer and the other differs,
 * and 0 if both are empty.
 */
export const f1Score: AnswerScore = (prediction, gold) =>
  best(prediction, gold, (predicted, wanted) =>
    (isClosed(predicted) || isClosed(wanted)) && !isEqual(predicted, wanted) ? 0 : overlap(predicted, wanted),
  );

/** F1 of the bags of words, as MuSiQue computes it: 1 if both are empty, and yes and no are words like any other. */
export const musiqueF1Score: AnswerScore = (prediction, gold) =>
  best(prediction, gold, (predicted, wanted) =>
    predicted.length === 0 && wanted.length === 0 ? 1 : overlap(predicted, wanted),
  );

/** 1 if the normalised prediction contains a normalised gold answer (`subem` of Search-R1, arXiv 2503.09516). */
export const substringMatch: AnswerScore = (prediction, gold) =>
  best(prediction, gold, (predicted, wanted) => (predicted.join(' ').includes(wanted.join(' ')) ? 1 : 0));

function best(
  prediction: string,
  gold: GoldAnswers,
  score: (predicted: readonly string[], wanted: readonly string[]) => number,
): number {
  const predicted = wordsOf(prediction);
  let highest = 0;
  for (const answer of typeof gold === 'string' ? [gold] : gold)
    highest = Math.max(highest, score(predicted, wordsOf(answer)));
  return highest;
}

/** The words of the normalised answer. */
function wordsOf(answer: string): string[] {
  const plain = answer.toLowerCase().replaceAll(punctuation, '').replaceAll(articles, ' ');
  return plain.split(whiteSpace).filter((word) => word !== '');
}

function isEqual(predicted: readonly string[], wanted: readonly string[]): boolean {
  return predicted.length === wanted.length && predicted.every((word, i) => word === wanted[i]);
}

function isClosed(words: readonly string[]): boolean {
  return words.length === 1 && closed.includes(words[0]!);
}

function overlap(predicted: readonly string[], wanted: readonly string[]): number {
  const left = new Map<string, number>();
  for (const word of wanted) left.set(word, (left.get(word) ?? 0) + 1);
  let common = 0;
  for (const word of predicted) {
    const count = left.get(word) ?? 0;
    if (count > 0) common++;
    left.set(word, count - 1);
  }
  if (common === 0) return 0;
  const [precision, recall] = [common / predicted.length, common / wanted.length];
  return (2 * precision * recall) / (precision + recall);
}
