/** What a score costs: a dot for each run, and a line through the runs that no other run beats for less. */
import { type SvgChartOptions, svgChart } from '@toolenv/training/svg-chart';
import { type ComparedRun, type CostName, costNames } from '../../src/scores/compare-scores.ts';
import { csvText } from '../csv.ts';
import { SaveChart } from '../curves/save-chart.tsx';
import { paretoFront } from './pareto.ts';

interface Props {
  runs: readonly ComparedRun[];
  score: string;
  cost: CostName;
  colourOf(name: string): string;
}

export function CostChart({ runs, score, cost, colourOf }: Props) {
  const shown = runs.flatMap(({ name, scores, costs }) => {
    const found = scores.find((row) => row.name === score)?.after;
    const spent = costs[cost];
    return found && spent !== undefined
      ? [{ name, cost: spent, score: found.mean, interval: found.interval }]
      : [];
  });
  const front = paretoFront(shown);
  const title = `${score} by ${costNames[cost]}`;
  const chart = (): SvgChartOptions => ({
    title,
    valueLabel: score,
    stepLabel: costNames[cost],
    curves: [
      { name: 'no run is better for less', points: front.map((run) => [run.cost, run.score] as const) },
    ],
    markers: shown.map((run) => ({
      name: run.name,
      step: run.cost,
      value: run.score,
      interval: run.interval,
    })),
    colors: ['#768390', ...shown.map(({ name }) => colourOf(name))],
  });
  const csv = () =>
    csvText([
      ['run', costNames[cost], score, 'low', 'high'],
      ...shown.map(({ name, cost, score, interval }) => [name, cost, score, ...(interval ?? ['', ''])]),
    ]);
  return (
    <figure class="chart cost-chart">
      <figcaption>
        <SaveChart title={title} csv={csv} chart={chart} />
      </figcaption>
      <div class="scroll" tabIndex={0} role="region" aria-label={title}>
        {/* The picture escapes the names in it. */}
        <div dangerouslySetInnerHTML={{ __html: svgChart(chart()) }} />
      </div>
      <p class="note">
        On the line, no other run scores as much for less: {front.map(({ name }) => name).join(', ')}.
      </p>
    </figure>
  );
}
