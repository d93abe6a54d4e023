/** Advantages of turns: the return of a turn, compared with the returns of the same turn in the other episodes. */
import {
  groupAdvantages,
  leaveOneOutAdvantages,
  type RewardScale,
  rewardDivisors,
} from './group-advantages.ts';

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
 * @returns [N][turns]
 */
export function turnAdvantages(
  rewards: readonly (readonly number[])[],
  groups: readonly number[],
  {
    scale,
    leaveOneOut,
    parents,
  }: {
    /** Divides by the deviation of whole episodes, one number for all turns; not with `leaveOneOut`. */
    scale: RewardScale;
    leaveOneOut: boolean;
    /** [N][turns] the turn that each turn goes on from (`turnParents`). Default: the turn before. */
    parents?: readonly (readonly number[])[];
  },
): number[][] {
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
