/** fuseRanks: merges rankings of the same corpus by reciprocal rank fusion (Cormack, Clarke and Büttcher, SIGIR 2009). */
import type { SearchHit } from '../document.ts';

/** The paper's constant: how much less the first ranks count than they would by 1/rank. */
const smoothing = 60;

/** The best `limit` documents by Σ 1/(60 + rank) over the rankings, ranks counted from 1. Ties keep the order of first mention. */
export function fuseRanks(rankings: readonly (readonly SearchHit[])[], limit: number): SearchHit[] {
  const fused = new Map<string, SearchHit>();
  for (const ranking of rankings) {
    for (const [index, hit] of ranking.entries()) {
      const score = 1 / (smoothing + index + 1);
      const known = fused.get(hit.id!);
      if (known) known.score += score;
      else fused.set(hit.id!, { ...hit, score });
    }
  }
  return [...fused.values()].sort((a, b) => b.score - a.score).slice(0, limit);
}
