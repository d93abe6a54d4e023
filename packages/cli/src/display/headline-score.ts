/** Chooses the reward component of an environment that says which episodes were right. */

const rightness = ['em', 'exact_match', 'exactMatch', 'accuracy', 'correct', 'success'];

/** The first name that means "right", else the first name; `undefined` without names. */
export function headlineScore(names: readonly string[]): string | undefined {
  return rightness.find((name) => names.includes(name)) ?? names[0];
}
