/** The curves of the runs, live while they train. */
import { useMemo, useState } from 'preact/hooks';
import type { RunHead } from '../../src/view/viewed-run.ts';
import type { States } from '../server.ts';
import type { Theme } from '../theme.ts';
import { Chart } from './chart.tsx';
import { chartData } from './chart-data.ts';
import { chartSpecs, oneCurveEach, otherSpecs } from './chart-specs.ts';
import { useMetrics } from './use-metrics.ts';

interface Props {
  /** Those that are shown. */
  runs: readonly RunHead[];
  all: readonly RunHead[];
  states: States;
  theme: Theme;
}

export function CurvesPage({ runs, all, states, theme }: Props) {
  const [smoothing, setSmoothing] = useState(0);
  const [sought, setSought] = useState('');
  const { metrics, problem } = useMetrics(
    all.map(({ name }) => name),
    states,
  );
  const shown = useMemo(
    () =>
      runs.map(({ name }) => ({
        name,
        run: all.findIndex((each) => each.name === name),
        lines: metrics.get(name) ?? [],
      })),
    [runs, all, metrics],
  );
  const specs = useMemo(() => {
    const all = chartSpecs(shown.flatMap(({ lines }) => lines));
    return shown.length > 1 ? oneCurveEach(all) : all;
  }, [shown]);
  const others = useMemo(() => {
    const words = sought.trim().toLowerCase();
    if (words === '') return [];
    const matching = ({ title }: { title: string }) => title.toLowerCase().includes(words);
    return otherSpecs(
      shown.flatMap(({ lines }) => lines),
      specs,
    ).filter(matching);
  }, [shown, specs, sought]);
  const charts = [...others, ...specs];
  const drawn = useMemo(
    () => charts.map((spec) => ({ spec, data: chartData(spec, shown, smoothing) })),
    [others, specs, shown, smoothing],
  );
  return (
    <section>
      <div class="bar">
        <label>
          smoothing
          <input
            type="range"
            min="0"
            max="0.95"
            step="0.05"
            value={smoothing}
            onInput={({ currentTarget }) => setSmoothing(Number(currentTarget.value))}
          />
          <output>{smoothing.toFixed(2)}</output>
        </label>
        <label>
          other metrics
          <input
            type="search"
            placeholder="such as ratio or critic"
            value={sought}
            onInput={({ currentTarget }) => setSought(currentTarget.value)}
          />
        </label>
      </div>
      {problem && <p class="problem">{problem}</p>}
      {drawn.length === 0 && (
        <p class="nothing">
          {runs.length === 0
            ? 'All runs are hidden.'
            : 'No step is done yet. The curves appear with the first.'}
        </p>
      )}
      <div class="charts">
        {drawn.map(({ spec, data }) => (
          <Chart
            key={spec.title}
            title={spec.title}
            unit={spec.unit}
            data={data}
            theme={theme}
            isOfRuns={runs.length > 1}
          />
        ))}
      </div>
    </section>
  );
}
