/** Which of an environment's reward components stands for "how many were right". */

const rightness = ['em', 'exact_match', 'exactMatch', 'accuracy', 'correct', 'success'];

/** The first name that means being right, else the first name; `undefined` if there is none. */
export function headlineScore(names: readonly string[]): string | undefined {
  return rightness.find((name) => names.includes(name)) ?? names[0];
}
