/** The metrics of runs, fetched as they grow. */

import type { MetricsLine } from '@toolenv/training';
import { useEffect, useRef, useState } from 'preact/hooks';
import { ask, type States } from '../server.ts';

export type MetricsOfRuns = ReadonlyMap<string, readonly MetricsLine[]>;

interface Fetched {
  /** The state of the run that the lines belong to. */
  state: number;
  lines: MetricsLine[];
}

/** Each time at which a run's file begins anew counts so much in {@link RunState.metrics}. */
const restart = 1e9;

/** @param problem Called with what went wrong. */
export function useMetrics(
  names: readonly string[],
  states: States,
): { metrics: MetricsOfRuns; problem?: string } {
  const known = useRef(new Map<string, Fetched>());
  const [metrics, setMetrics] = useState<MetricsOfRuns>(new Map());
  const [problem, setProblem] = useState<string>();
  const wanted = names.map((name) => `${name} ${states[name]?.metrics ?? 0}`).join('\n');
  useEffect(() => {
    const left = new AbortController();
    const fetchOne = async (name: string) => {
      const state = states[name]?.metrics ?? 0;
      const before = known.current.get(name);
      if (before?.state === state) return;
      const goesOn = before && Math.floor(before.state / restart) === Math.floor(state / restart);
      const lines = goesOn ? before.lines : [];
      const answer = await ask('/api/metrics', { run: name, from: lines.length }, left.signal);
      known.current.set(name, { state, lines: [...lines, ...answer.lines] });
    };
    Promise.all(names.map(fetchOne)).then(
      () => {
        if (left.signal.aborted) return;
        setProblem(undefined);
        setMetrics(new Map([...known.current].map(([name, { lines }]) => [name, lines])));
      },
      (error: Error) => {
        if (!left.signal.aborted) setProblem(error.message);
      },
    );
    return () => left.abort();
  }, [wanted]);
  return { metrics, problem };
}
