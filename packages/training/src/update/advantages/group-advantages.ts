/** Advantages of whole episodes, compared with the other episodes of the same task: GRPO, Dr. GRPO and RLOO. */
import { groupBy } from '../../rows/averages.ts';
import { areEqual } from '../../rows/zero-variance.ts';

/**
 * The divisor of the difference from the group's mean: the standard deviation of the group (GRPO, arXiv 2402.03300), of the
 * whole batch, or none (Dr. GRPO, arXiv 2503.20783, which does not favour tasks that nearly always succeed or fail).
 */
export type RewardScale = 'group' | 'batch' | 'none';

/**
 * (score − group mean) / (unbiased standard deviation + 1e-6) for each of `scores` [N]; `groups` [N] names the group of each
 * score. A group of one, whose other episodes were aborted, has nothing to be compared with: its advantage is 0.
 */
export function groupAdvantages(
  scores: readonly number[],
  groups: readonly number[],
  scale: RewardScale = 'group',
): number[] {
  const divisors = rewardDivisors(scores, groups, scale);
  return perGroup(scores, groups, differenceFromMean).map((value, n) => value / divisors[n]!);
}

/** [N] the divisor of each episode's difference. */
export function rewardDivisors(
  scores: readonly number[],
  groups: readonly number[],
  scale: RewardScale,
): number[] {
  if (scale === 'none') return scores.map(() => 1);
  if (scale === 'group') return perGroup(scores, groups, (_, { deviation }) => deviation + 1e-6);
  const { deviation } = moments(scores);
  return scores.map(() => deviation + 1e-6);
}

/**
 * RLOO (arXiv 2402.14740): the score minus the mean of the other scores in its group, n/(n − 1)·(score − group mean). The
 * baseline does not depend on the episode itself, so the gradient is unbiased. A group of one has advantage 0.
 */
export function leaveOneOutAdvantages(scores: readonly number[], groups: readonly number[]): number[] {
  return perGroup(scores, groups, (score, group) => {
    return group.count === 1 ? 0 : differenceFromMean(score, group) * (group.count / (group.count - 1));
  });
}

/** 0 for scores that are equal apart from rounding. */
function differenceFromMean(score: number, { mean, deviation }: Moments): number {
  return deviation === 0 ? 0 : score - mean;
}

interface Moments {
  mean: number;
  /** Unbiased. */
  deviation: number;
  count: number;
}

function perGroup(
  scores: readonly number[],
  groups: readonly number[],
  value: (score: number, group: Moments) => number,
): number[] {
  const values = new Array<number>(scores.length);
  for (const indices of groupBy(groups.keys(), (index) => groups[index]!).values()) {
    const group = moments(indices.map((index) => scores[index]!));
    for (const index of indices) values[index] = value(scores[index]!, group);
  }
  return values;
}

function moments(values: readonly number[]): Moments {
  const count = values.length;
  if (areEqual(values)) return { mean: values[0] ?? 0, deviation: 0, count };
  const mean = values.reduce((sum, value) => sum + value, 0) / count;
  const squares = values.reduce((sum, value) => sum + (value - mean) ** 2, 0);
  return { mean, deviation: Math.sqrt(squares / (count - 1)), count };
}

/**
 * The return of each turn (the sum of rewards from that turn on; where the episode branches, the mean over the branches) minus a baseline for the turn's number: the mean over the
 * whole group, where an episode that has already ended counts as 0.
 *
 * The obvious baseline, the mean over the episodes that reached the turn, is biased when the policy decides when to stop. It
 * contains the episode itself with weight 1/(episodes that reached the turn), so the fewer episodes reach a turn, the less
 * it learns; an episode that reaches it alone learns nothing. Here that weight is 1/n at every turn, and `leaveOneOut`
 * removes it.
 *
 * @param rewards [N][turns] each turn's rewards, outcome included; episodes differ in turns.
 * @param groups [N]
 * @param options.scale Divides by the deviation of whole episodes, one number for all turns; not with `leaveOneOut`.
 * @param options.parents [N][turns] the turn that each turn goes on from (`turnParents`). Default: the turn before.
 * @returns [N][turns]
 */
export function turnAdvantages(
  rewards: readonly (readonly number[])[],
  groups: readonly number[],
  options: { scale: RewardScale; leaveOneOut: boolean; parents?: readonly (readonly number[])[] },
): number[][] {
  const { scale, leaveOneOut, parents } = options;
  const returns = rewards.map((turns, n) => turnReturns(turns, parents?.[n]));
  const episodes = returns.map(([whole = 0]) => whole);
  const divisors = rewardDivisors(episodes, groups, leaveOneOut ? 'none' : scale);
  const advantages: number[][] = rewards.map(() => []);
  const turns = Math.max(0, ...rewards.map(({ length }) => length));
  for (let turn = 0; turn < turns; turn++) {
    const toGo = returns.map((row) => row[turn] ?? 0);
    const centred = leaveOneOut ? leaveOneOutAdvantages(toGo, groups) : groupAdvantages(toGo, groups, 'none');
    for (const [n, row] of returns.entries()) {
      if (turn < row.length) advantages[n]!.push(centred[n]! / divisors[n]!);
    }
  }
  return advantages;
}

/**
 * [turns] Σ rewards from each turn on, discounted by γ per turn; where the episode branches, the mean over the branches.
 * @param parents [turns] the turn that each turn goes on from. Default: the turn before.
 */
export function turnReturns(
  rewards: readonly number[],
  parents: readonly number[] = rewards.map((_, turn) => turn - 1),
  gamma = 1,
): number[] {
  const returns = [...rewards];
  const later = rewards.map(() => ({ sum: 0, branches: 0 }));
  for (let turn = rewards.length - 1; turn >= 0; turn--) {
    const { sum, branches } = later[turn]!;
    if (branches > 0) returns[turn]! += (gamma * sum) / branches;
    const parent = later[parents[turn]!];
    if (!parent) continue;
    parent.sum += returns[turn]!;
    parent.branches += 1;
  }
  return returns;
}
