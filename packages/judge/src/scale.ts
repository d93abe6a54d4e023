/** Scale: the verdicts that a judge may give, and their scores. */
/**
 * `[0, 10]`: numbers from 0 to 10, whose scores run from 0 to 1. `{ good: 1, fair: 0.5, bad: 0 }`: one of these words, with these
 * scores.
 */
export type Scale = readonly [low: number, high: number] | Readonly<Record<string, number>>;

/** A number as a judge writes it. */
const decimal = /^-?\d{1,15}(\.\d{1,15})?$/;

/** What is wrong with a scale: its ends are not in order, or it has fewer than two words. */
export function scaleMistake(scale: Scale): string | undefined {
  const isFit = isRange(scale)
    ? scale.length === 2 && scale.every((end) => decimal.test(String(end))) && scale[0] < scale[1]
    : Object.keys(scale).length >= 2 &&
      Object.entries(scale).every(([word, score]) => /^\S(.*\S)?$/.test(word) && Number.isFinite(score));
  if (isFit) return undefined;
  const expected = 'give [low, high], or words with their scores: { good: 1, bad: 0 }';
  return `The scale of the judge is ${JSON.stringify(scale)}: ${expected}.`;
}

/** The verdicts in words, for the judge. */
export function describeScale(scale: Scale): string {
  if (isRange(scale)) return `a number from ${scale[0]} (worst) to ${scale[1]} (best)`;
  const words = Object.entries(scale).sort(([, a], [, b]) => b - a);
  return `one of these words, best first: ${words.map(([word]) => word).join(', ')}`;
}

/** The score of a verdict; `undefined` for a text that is not on the scale. */
export function scoreOf(verdict: string, scale: Scale): number | undefined {
  if (!isRange(scale)) return Object.hasOwn(scale, verdict) ? scale[verdict] : undefined;
  if (!decimal.test(verdict)) return undefined;
  const [low, high] = scale;
  const value = Number(verdict);
  return value >= low && value <= high ? (value - low) / (high - low) : undefined;
}

function isRange(scale: Scale): scale is readonly [number, number] {
  return Array.isArray(scale);
}
