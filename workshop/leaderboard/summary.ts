/** The rows of the table: mean and standard deviation of each score over the seeds. */
import { type Dataset, datasets, type Score } from './datasets.ts';
import { agents, baselines } from './entries.ts';
import type { Result } from './results.ts';

/** Mean and unbiased standard deviation over seeds. */
export interface Spread {
  mean: number;
  deviation: number;
}

export interface Row {
  name: string;
  seeds: number[];
  /** By dataset, and averaged over the datasets. */
  scores: Record<Dataset | 'average', { em: Spread; f1: Spread }>;
  prompts: string[];
}

/** The rows that have results, in the order of the table. */
export function summarise(results: readonly Result[]): Row[] {
  return [...baselines, ...agents].flatMap(({ name }) => {
    const own = results.filter(({ row }) => row === name);
    if (own.length === 0) return [];
    const of = (read: (scores: Record<string, Score>) => Score) => {
      const scores = own.map((result) => read(result.scores));
      return { em: spread(scores.map(({ em }) => em)), f1: spread(scores.map(({ f1 }) => f1)) };
    };
    const each = datasets.map((name) => [name, of((scores) => scores[name]!)] as const);
    const scores = { ...Object.fromEntries(each), average: of(averageScore) } as Row['scores'];
    const prompts = own.flatMap(({ prompt }) => prompt ?? []);
    return [{ name, seeds: own.map(({ seed }) => seed), scores, prompts }];
  });
}

/** `0.472 ± 0.025`. */
export function spreadText({ mean, deviation }: Spread): string {
  return `${mean.toFixed(3)} ± ${deviation.toFixed(3)}`;
}

function averageScore(scores: Record<string, Score>): Score {
  const all = datasets.map((name) => scores[name]!);
  const mean = (read: (score: Score) => number) =>
    all.reduce((sum, score) => sum + read(score), 0) / all.length;
  return { em: mean(({ em }) => em), f1: mean(({ f1 }) => f1) };
}

function spread(values: readonly number[]): Spread {
  const mean = values.reduce((sum, value) => sum + value, 0) / values.length;
  if (values.length === 1) return { mean, deviation: 0 };
  const variance = values.reduce((sum, value) => sum + (value - mean) ** 2, 0) / (values.length - 1);
  return { mean, deviation: Math.sqrt(variance) };
}
