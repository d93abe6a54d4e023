/** The metrics of runs, fetched as they grow. */

import type { MetricsLine } from '@toolenv/training';
import { useEffect, useRef, useState } from 'preact/hooks';
import { nothingRead } from '../../src/view/extent.ts';
import { ask, type States } from '../server.ts';

export type MetricsOfRuns = ReadonlyMap<string, readonly MetricsLine[]>;

interface Fetched {
  generation: number;
  lines: MetricsLine[];
}

/** @param problem Called with what went wrong. */
export function useMetrics(
  names: readonly string[],
  states: States,
): { metrics: MetricsOfRuns; problem?: string } {
  const known = useRef(new Map<string, Fetched>());
  const [metrics, setMetrics] = useState<MetricsOfRuns>(new Map());
  const [problem, setProblem] = useState<string>();
  const wanted = names.map((name) => `${name} ${JSON.stringify(states[name]?.metrics)}`).join('\n');
  useEffect(() => {
    const left = new AbortController();
    const fetchOne = async (name: string) => {
      const { count, generation } = states[name]?.metrics ?? nothingRead;
      const before = known.current.get(name);
      const lines = before?.generation === generation ? before.lines : [];
      if (lines.length === count) return;
      const answer = await ask('/api/metrics', { run: name, from: lines.length }, left.signal);
      known.current.set(name, { generation, lines: [...lines, ...answer.lines] });
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
