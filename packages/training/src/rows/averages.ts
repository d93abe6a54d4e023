/** Values, sums and means, most of them over the tokens with mask 1. Arrays with a mask are [B][T]; values at mask 0 are ignored. */
import type { TokenValues } from '@toolenv/core/learner';

/** 0 without any values. */
export function mean(values: Iterable<number> & { readonly length: number }): number {
  let sum = 0;
  for (const value of values) sum += value;
  return sum / Math.max(values.length, 1);
}

/** [B][T] a value of each token with mask 1; 0 at mask 0. */
export function atMask(mask: readonly Uint8Array[], value: (b: number, t: number) => number): Float64Array[] {
  return mask.map((row, b) => Float64Array.from(row, (bit, t) => (bit === 1 ? value(b, t) : 0)));
}

export function countTokens(mask: readonly Uint8Array[]): number {
  return mask.reduce((total, row) => total + row.reduce((count, bit) => count + bit, 0), 0);
}

export function sumOverTokens(values: TokenValues, mask: readonly Uint8Array[]): number {
  let sum = 0;
  for (const [b, row] of mask.entries()) {
    for (let t = 0; t < row.length; t++) if (row[t] === 1) sum += values[b]![t]!;
  }
  return sum;
}

/** 0 without any tokens. */
export function meanOverTokens(values: TokenValues, mask: readonly Uint8Array[]): number {
  return sumOverTokens(values, mask) / Math.max(countTokens(mask), 1);
}

/**
 * The mean over episodes of each episode's mean, as verl averages its KL penalty.
 * @param episodes [B] names the episode of each row.
 */
export function meanOverEpisodes(
  values: TokenValues,
  mask: readonly Uint8Array[],
  episodes: readonly unknown[],
): number {
  const means = episodePlaces(mask, episodes).map((places) => mean(valuesAt(values, places)));
  return means.reduce((sum, each) => sum + each / means.length, 0);
}

/** Σ (x − mean)². */
export function squaredDeviations(values: TokenValues, mask: readonly Uint8Array[]): number {
  const center = meanOverTokens(values, mask);
  const squares = values.map((row) => Float64Array.from(row, (value) => (value - center) ** 2));
  return sumOverTokens(squares, mask);
}

/** The items of each key, in their order; the keys in the order of their first items. */
export function groupBy<Item, Key>(items: Iterable<Item>, keyOf: (item: Item) => Key): Map<Key, Item[]> {
  const groups = new Map<Key, Item[]>();
  for (const item of items) {
    const group = groups.get(keyOf(item));
    if (group) group.push(item);
    else groups.set(keyOf(item), [item]);
  }
  return groups;
}

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
