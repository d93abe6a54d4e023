/**
 * Scores an answer against the gold answer: exact match and F1 as in HotpotQA's `hotpot_evaluate_v1.py`, whose
 * normalisation is SQuAD's, and the substring score of retrieval papers.
 */

/** Python's `string.punctuation`. */
const punctuation = /[!"#$%&'()*+,\-./:;<=>?@[\\\]^_`{|}~]/g;
/** Python's `\b` recognises letters of every script, JavaScript's only ASCII letters. */
const articles = /(?<![\p{L}\p{N}_])(a|an|the)(?![\p{L}\p{N}_])/gu;
const closed: readonly string[] = ['yes', 'no', 'noanswer'];

/** The answer in lower case, without punctuation and articles, with single spaces. */
export function normalizeAnswer(answer: string): string {
  return answer
    .toLowerCase()
    .replaceAll(punctuation, '')
    .replaceAll(articles, ' ')
    .split(/\s+/)
    .filter(Boolean)
    .join(' ');
}

/** 1 if the normalised answers are equal. */
export function exactMatch(prediction: string, gold: string): number {
  return normalizeAnswer(prediction) === normalizeAnswer(gold) ? 1 : 0;
}

/** F1 of the bags of words; 0 if one answer is yes, no or noanswer and the other differs. */
export function f1Score(prediction: string, gold: string): number {
  const [predicted, wanted] = [normalizeAnswer(prediction), normalizeAnswer(gold)];
  if (predicted !== wanted && (closed.includes(predicted) || closed.includes(wanted))) return 0;
  const [predictedWords, goldWords] = [predicted.split(' '), wanted.split(' ')].map((words) =>
    words.filter(Boolean),
  );
  const left = new Map<string, number>();
  for (const word of goldWords!) left.set(word, (left.get(word) ?? 0) + 1);
  let common = 0;
  for (const word of predictedWords!) {
    const count = left.get(word) ?? 0;
    if (count > 0) common++;
    left.set(word, count - 1);
  }
  if (common === 0) return 0;
  const [precision, recall] = [common / predictedWords!.length, common / goldWords!.length];
  return (2 * precision * recall) / (precision + recall);
}

/** 1 if the normalised prediction contains the normalised gold answer (`subem` of Search-R1, arXiv 2503.09516). */
export function substringMatch(prediction: string, gold: string): number {
  return normalizeAnswer(prediction).includes(normalizeAnswer(gold)) ? 1 : 0;
}
