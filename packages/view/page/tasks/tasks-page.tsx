/** The tasks of a run: over the steps of training, or beside another evaluation. */
import type { RunHead } from '../../src/view/viewed-run.ts';
import type { States } from '../server.ts';
import { ComparedTasks } from './compared-tasks.tsx';
import { HeatMap } from './heat-map.tsx';
import './tasks.css';

interface Props {
  runs: readonly RunHead[];
  run: RunHead;
  query: Readonly<Record<string, string>>;
  states: States;
}

export function TasksPage({ runs, run, query, states }: Props) {
  if (run.kind === 'training') return <HeatMap run={run} query={query} states={states} />;
  const others = runs.filter(({ name, kind }) => name !== run.name && kind !== 'training');
  if (others.length > 0) return <ComparedTasks run={run} others={others} query={query} states={states} />;
  return (
    <p class="nothing">
      The tasks of an evaluation are compared with those of another: give toolenv view two evaluations.
    </p>
  );
}
