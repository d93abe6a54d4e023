/** Which tokens of a batch belong to one episode: a loss sees them as one sequence, however many rows they are in. */
import type { TokenValues } from '@toolenv/core/learner';
import { groupBy } from './group-by.ts';

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
  return [...groupBy(mask.keys(), (b) => episodes[b]).values()].map((rows) => {
    const places: EpisodePlaces = { b: [], t: [] };
    for (const b of rows) {
      for (let t = 0; t < mask[b]!.length; t++) {
        if (mask[b]![t] !== 1) continue;
        places.b.push(b);
        places.t.push(t);
      }
    }
    return places;
  });
}

/** The values [B][T] at the places. */
export function valuesAt(values: TokenValues, { b, t }: EpisodePlaces): Float64Array {
  const found = new Float64Array(t.length);
  for (let i = 0; i < found.length; i++) found[i] = values[b[i]!]![t[i]!]!;
  return found;
}
