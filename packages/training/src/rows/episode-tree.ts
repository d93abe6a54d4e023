/** The tree of an episode, as its rows have it: which token a row goes on from, and which turn a turn. */
import type { RowParent, TrainingRow } from './training-row.ts';

/**
 * [B] the token that each row goes on from, its row numbered within the batch; `undefined` for the first row of an episode.
 * @param rows All rows of their episodes, in order.
 */
export function parentsOf(
  rows: readonly Pick<TrainingRow, 'parent' | 'trajectory'>[],
): (RowParent | undefined)[] {
  const first = new Map<TrainingRow['trajectory'], number>();
  return rows.map(({ parent, trajectory }, b) => {
    if (!first.has(trajectory)) first.set(trajectory, b);
    return parent && { row: first.get(trajectory)! + parent.row, token: parent.token };
  });
}

/**
 * [turns] the turn that each turn goes on from; −1 for the first. The turn before, unless the episode branches.
 * @param rows All rows of one episode, in order.
 */
export function turnParents(rows: readonly Pick<TrainingRow, 'parent' | 'turns'>[]): number[] {
  const parents: number[] = [];
  for (const { parent, turns } of rows) {
    let last = parent ? rows[parent.row]!.turns[parent.token]! : -1;
    for (const turn of turns) {
      if (turn === -1 || turn === last) continue;
      parents[turn] = last;
      last = turn;
    }
  }
  return parents;
}
