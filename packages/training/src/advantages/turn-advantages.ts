/** Advantages of turns: what came after a turn, compared with what came after the same turn in the other episodes. */
import {
  groupAdvantages,
  leaveOneOutAdvantages,
  type RewardScale,
  rewardDivisors,
} from './group-advantages.ts';

/**
 * The return of each turn, Σ rewards from it on, minus a baseline for its number: the mean over the whole group, in which an
 * episode that had ended counts with the 0 that came after its end.
 *
 * The mean over only the episodes that got so far, which is the obvious baseline, is biased when the policy decides when
 * to stop: it holds the episode itself, with a weight of 1/(episodes that got so far), so that late turns learn less the
 * fewer get there, and one that gets there alone learns nothing. Here the weight is 1/n at each turn; `leaveOneOut`
 * removes it altogether.
 *
 * @param rewards [N][turns] each turn's rewards, outcome included; episodes differ in turns.
 * @param groups [N]
 * @param scale Divides by the deviation of whole episodes, one number for all turns; not with `leaveOneOut`.
 * @returns [N][turns]
 */
export function turnAdvantages(
  rewards: readonly (readonly number[])[],
  groups: readonly number[],
  { scale, leaveOneOut }: { scale: RewardScale; leaveOneOut: boolean },
): number[][] {
  const returns = rewards.map(returnsFromEachTurn);
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

/** [turns] Σ rewards from each turn on. */
function returnsFromEachTurn(rewards: readonly number[]): number[] {
  const returns = new Array<number>(rewards.length);
  let sum = 0;
  for (let turn = rewards.length - 1; turn >= 0; turn--) {
    sum += rewards[turn]!;
    returns[turn] = sum;
  }
  return returns;
}
