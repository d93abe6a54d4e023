/** Group-relative advantages (GRPO, arXiv 2402.03300): how much better than the other episodes of its task. */

/**
 * (score − group mean) / (group standard deviation, unbiased, + 1e-6) for each of `scores` [N], where `groups` [N] names
 * each one's group. A group of one has advantage (score − 0) / (1 + 1e-6), as in the paper's code.
 */
export function groupAdvantages(scores: readonly number[], groups: readonly number[]): number[] {
  const members = new Map<number, number[]>();
  for (const [index, group] of groups.entries()) members.set(group, [...(members.get(group) ?? []), index]);
  const advantages = new Array<number>(scores.length);
  for (const indices of members.values()) {
    const { mean, deviation } = moments(indices.map((index) => scores[index]!));
    for (const index of indices) advantages[index] = (scores[index]! - mean) / (deviation + 1e-6);
  }
  return advantages;
}

function moments(values: readonly number[]): { mean: number; deviation: number } {
  if (values.length === 1) return { mean: 0, deviation: 1 };
  // Summing would leave a rounding error, and with it an advantage that is not quite 0.
  if (values.every((value) => value === values[0])) return { mean: values[0]!, deviation: 0 };
  const mean = values.reduce((sum, value) => sum + value, 0) / values.length;
  const squares = values.reduce((sum, value) => sum + (value - mean) ** 2, 0);
  return { mean, deviation: Math.sqrt(squares / (values.length - 1)) };
}
