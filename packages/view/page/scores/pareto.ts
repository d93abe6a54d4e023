/** paretoFront: the runs that no other run beats in score for less cost. */

export interface CostedRun {
  name: string;
  cost: number;
  score: number;
}

/** By cost. Of runs that cost and score the same, all are on the front. */
export function paretoFront<Run extends CostedRun>(runs: readonly Run[]): Run[] {
  const isBeaten = (run: Run) =>
    runs.some(
      ({ cost, score }) => cost <= run.cost && score >= run.score && (cost < run.cost || score > run.score),
    );
  return runs.filter((run) => !isBeaten(run)).sort((a, b) => a.cost - b.cost);
}
