/** libraryResults: how the small policy learns an environment, from the results of `npm run library-study`. */
import { svgChart } from '@toolenv/training/reports';
import { ceilingOf } from '../../studies/library/environments.ts';
import { newestOf, type Result, type RowName } from '../../studies/library/results.ts';
import { mean } from '../../studies/shared/intervals.ts';

export interface LibraryResults {
  chart: string;
  /** A sentence with the scores on test tasks. */
  text: string;
}

const shown = ['Start', 'SFT on demonstrations', 'GRPO'] as const;

/**
 * @param name Of an environment: `bank-v1`.
 * @param all Results in the order in which they were measured. Those of the newest policy count.
 * @returns `undefined` for an environment in which a row was not measured.
 */
export function libraryResults(name: string, all: readonly Result[]): LibraryResults | undefined {
  const results = newestOf(all).filter(({ environment }) => `${environment}-v1` === name);
  const rowOf = (row: RowName) => results.filter((result) => result.row === row);
  if (shown.some((row) => rowOf(row).length === 0)) return undefined;
  const trained = rowOf('GRPO');
  const score = (row: RowName) => mean(rowOf(row).map(({ sampled }) => sampled.all)).toFixed(2);
  const ceiling = ceilingOf(trained[0]!.environment);
  const last = Math.max(...trained[0]!.curve.map(([step]) => step));
  const curves = [
    { name: 'GRPO', points: curveOf(trained) },
    { name: 'SFT on demonstrations', points: curveOf(rowOf('SFT on demonstrations')) },
    ...(ceiling === undefined
      ? []
      : [
          {
            name: 'ceiling',
            points: [
              [0, ceiling],
              [last, ceiling],
            ] as const,
          },
        ]),
  ];
  const title = `The small policy learns ${name} by GRPO`;
  return {
    chart: svgChart({ title, valueLabel: 'success on validation tasks', curves }),
    text: `The small policy, sampled, solves ${score('Start')} of the test tasks before training, ${score('SFT on demonstrations')} after more supervised training, and ${score('GRPO')} after GRPO${ceiling === undefined ? '' : `; the ceiling is ${ceiling}`}. [More](../benchmarks/library.md).`,
  };
}

/** Means over seeds. */
function curveOf(results: readonly Result[]): (readonly [step: number, value: number])[] {
  const curves = results.map(({ curve }) => new Map(curve));
  const steps = [...(curves[0]?.keys() ?? [])];
  return steps.map((step) => [step, mean(curves.flatMap((curve) => curve.get(step) ?? []))]);
}
