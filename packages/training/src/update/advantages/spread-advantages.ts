/** Advantages of episodes and of turns, written to each of their tokens. */
import { atMask } from '../../rows/averages.ts';
import { turnParents } from '../../rows/episode-tree.ts';
import type { AdvantageInputs } from './define-advantage.ts';

/** [B][T] the advantage of a token's episode, from `values` [N]; 0 at mask 0. */
export function ofEpisodes(
  { mask, episodes }: Pick<AdvantageInputs, 'mask' | 'episodes'>,
  values: readonly number[],
): Float64Array[] {
  return atMask(mask, (b) => values[episodes[b]!]!);
}

/** [B][T] the advantage of a token's turn, from `values` [N][turns]; 0 at mask 0 and at tokens that belong to no turn. */
export function ofTurns(
  { mask, rows, episodes }: Pick<AdvantageInputs, 'mask' | 'rows' | 'episodes'>,
  values: readonly (readonly number[])[],
): Float64Array[] {
  return atMask(mask, (b, t) => values[episodes[b]!]![rows[b]!.turns[t]!] ?? 0);
}

/** [N][turns] the turns of each episode: Σ r·m of each, and the turn that it goes on from (−1 for the first). */
export function turnsOf({
  trajectories,
  rows,
  episodes,
  rewards,
}: Pick<AdvantageInputs, 'trajectories' | 'rows' | 'episodes' | 'rewards'>): {
  rewards: number[][];
  parents: number[][];
} {
  const sums = trajectories.map(({ steps }) => steps.map(() => 0));
  const ofEpisode = trajectories.map((): (typeof rows)[number][] => []);
  for (const [b, row] of rows.entries()) {
    ofEpisode[episodes[b]!]!.push(row);
    for (let t = 0; t < row.mask.length; t++) {
      if (row.mask[t] === 1) sums[episodes[b]!]![row.turns[t]!]! += rewards[b]![t]!;
    }
  }
  return { rewards: sums, parents: ofEpisode.map(turnParents) };
}
