/** The rows of a page: means over the seeds with intervals, and paired differences between rows. */
import type { Family } from '../../workshop/tiny-policy/families.ts';
import { type Estimate, estimate, mean, pairedDifference } from '../shared/intervals.ts';
import type { Result } from './results.ts';
import type { Study } from './study.ts';

export interface RowSummary {
  name: string;
  seeds: number[];
  /** Exact match of each dataset. */
  em: Readonly<Partial<Record<Family, Estimate>>>;
  /** Averages over the datasets. */
  average: { em: Estimate; f1: Estimate };
  /** Average exact match of each seed. */
  bySeed: ReadonlyMap<number, number>;
  /** Mean steps until the weights that were scored, of an agent. */
  steps?: number;
}

/** The rows that have results, in the order of the study. */
export function summarise({ rows, scoredOn }: Study, results: readonly Result[]): RowSummary[] {
  return rows.flatMap(({ name }) => {
    const own = results.filter(({ row }) => row === name);
    if (own.length === 0) return [];
    const averageOf = ({ scores }: Result, score: 'em' | 'f1') =>
      mean(scoredOn.map((dataset) => scores[dataset]![score]));
    const em = scoredOn.map((dataset) => [dataset, estimate(own.map(({ scores }) => scores[dataset]!.em))]);
    const steps = own.flatMap((result) => result.steps ?? []);
    return [
      {
        name,
        seeds: own.map(({ seed }) => seed),
        em: Object.fromEntries(em),
        average: {
          em: estimate(own.map((result) => averageOf(result, 'em'))),
          f1: estimate(own.map((result) => averageOf(result, 'f1'))),
        },
        bySeed: new Map(own.map((result) => [result.seed, averageOf(result, 'em')])),
        ...(steps.length > 0 && { steps: mean(steps) }),
      },
    ];
  });
}

/** How much better `row` is than `reference` in average exact match, in the worlds that both have played. */
export function difference(row: RowSummary, reference: RowSummary): Estimate | undefined {
  return pairedDifference(row.bySeed, reference.bySeed);
}
