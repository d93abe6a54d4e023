/** The curves of the runs by section, live while they train. */
import type { RewardSpec } from '@toolenv/core';
import { useMemo } from 'preact/hooks';
import type { RunHead } from '../../src/view/viewed-run.ts';
import { groupBySeed } from '../all-runs/arrange-runs.ts';
import { entryOf } from '../all-runs/run-columns.ts';
import { go, hrefOf } from '../route.ts';
import type { States } from '../server.ts';
import type { Theme } from '../theme.ts';
import { type Axis, axes, chartData, type RunsTogether } from './chart-data.ts';
import { chartSpecs, oneCurveEach, otherSpecs, sections } from './chart-specs.ts';
import { Charts } from './charts.tsx';
import { useMetrics } from './use-metrics.ts';

interface Props {
  /** Those that are shown. */
  runs: readonly RunHead[];
  all: readonly RunHead[];
  states: States;
  theme: Theme;
  query: Readonly<Record<string, string>>;
}

export function CurvesPage({ runs, all, states, theme, query }: Props) {
  const smoothing = Math.min(0.95, Math.max(0, Number(query.smoothing) || 0));
  const axis = (query.axis ?? 'step') in axes ? ((query.axis ?? 'step') as Axis) : 'step';
  const isLogarithmic = query.scale === 'log';
  const areTogether = query.seeds === 'together';
  const sought = query.metric ?? '';
  const change = (changes: object) => go(hrefOf('curves', { ...query, ...changes }), { isStep: false });
  const { metrics, problem } = useMetrics(
    all.map(({ name }) => name),
    states,
  );
  const shown = useMemo(
    () =>
      runs.map(({ name, facts }) => ({
        name,
        run: all.findIndex((each) => each.name === name),
        rewardSpec: facts.rewardSpec as RewardSpec | undefined,
        lines: metrics.get(name) ?? [],
      })),
    [runs, all, metrics],
  );
  const together = useMemo(() => {
    if (!areTogether) return shown.map((run): RunsTogether => [run]);
    const entries = runs.map((head, index) => entryOf(head, index, undefined));
    return groupBySeed(entries, []).map(
      ({ runs }) => runs.map(({ index }) => shown[index]!) as unknown as RunsTogether,
    );
  }, [shown, runs, areTogether]);
  const specs = useMemo(() => {
    const spec: RewardSpec = Object.assign({}, ...shown.map(({ rewardSpec }) => rewardSpec));
    const all = chartSpecs(
      shown.flatMap(({ lines }) => lines),
      spec,
    );
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
  const drawn = useMemo(
    () =>
      [...others, ...specs].map((spec) => ({
        spec,
        data: chartData(spec, together, { smoothing, axis, isLogarithmic }),
      })),
    [others, specs, together, smoothing, axis, isLogarithmic],
  );
  // What a person searches for comes first.
  const order = [...sections].sort((a, b) => Number(b === 'Other metrics') - Number(a === 'Other metrics'));
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
            onInput={({ currentTarget }) => change({ smoothing: Number(currentTarget.value) || '' })}
          />
          <output>{smoothing.toFixed(2)}</output>
        </label>
        <label>
          over
          <select value={axis} onChange={({ currentTarget }) => change({ axis: currentTarget.value })}>
            {Object.entries(axes).map(([name, title]) => (
              <option key={name} value={name}>
                {title}
              </option>
            ))}
          </select>
        </label>
        <label>
          <input
            type="checkbox"
            checked={isLogarithmic}
            onChange={() => change({ scale: isLogarithmic ? '' : 'log' })}
          />
          log scale
        </label>
        {all.length > 1 && (
          <label>
            <input
              type="checkbox"
              checked={areTogether}
              onChange={() => change({ seeds: areTogether ? '' : 'together' })}
            />
            seeds together
          </label>
        )}
        <label>
          other metrics
          <input
            type="search"
            placeholder="such as ratio or critic"
            value={sought}
            onInput={({ currentTarget }) => change({ metric: currentTarget.value })}
          />
        </label>
      </div>
      {problem && <p class="problem">{problem}</p>}
      {drawn.length === 0 && (
        <p class="nothing">
          {runs.length === 0
            ? 'All runs are hidden.'
            : runs.every(({ kind }) => kind !== 'training')
              ? 'Only runs of training have curves: see the overview and the episodes.'
              : 'No step is done yet. The curves appear with the first.'}
        </p>
      )}
      {order.map((section) => {
        const charts = drawn.filter(({ spec }) => spec.section === section);
        if (charts.length === 0) return null;
        return (
          <section key={section} class="curves" aria-label={section}>
            <h2>{section}</h2>
            <Charts {...{ charts, axis, isLogarithmic, theme }} isOfRuns={runs.length > 1} />
          </section>
        );
      })}
    </section>
  );
}
