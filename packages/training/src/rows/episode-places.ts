/** Which tokens of a batch belong to one episode: a loss sees them as one sequence, however many rows they are in. */
import type { TokenValues } from '@toolenv/core/learner';

/** The tokens of an episode with mask 1, in the order of its rows: the i-th is token `t[i]` of row `b[i]`. */
export interface EpisodePlaces {
  b: number[];
  t: number[];
}

/**
 * The episodes of a batch, in the order of their first rows.
 * @param episodes [B] names the episode of each row. Default: each row is an episode.
 */
export function episodePlaces(
  mask: readonly Uint8Array[],
  episodes: readonly unknown[] = [...mask.keys()],
): EpisodePlaces[] {
  const found = new Map<unknown, EpisodePlaces>();
  for (const [b, row] of mask.entries()) {
    let places = found.get(episodes[b]);
    if (!places) {
      places = { b: [], t: [] };
      found.set(episodes[b], places);
    }
    for (let t = 0; t < row.length; t++) {
      if (row[t] !== 1) continue;
      places.b.push(b);
      places.t.push(t);
    }
  }
  return [...found.values()];
}

/** The values [B][T] at the places. */
export function valuesAt(values: TokenValues, { b, t }: EpisodePlaces): Float64Array {
  const found = new Float64Array(t.length);
  for (let i = 0; i < found.length; i++) found[i] = values[b[i]!]![t[i]!]!;
  return found;
}

/** 0 without any values. */
export function meanOf(values: Float64Array): number {
  return values.reduce((sum, value) => sum + value, 0) / Math.max(values.length, 1);
}
