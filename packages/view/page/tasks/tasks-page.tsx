/** The tasks of a run: over the steps of training, or of an evaluation, alone or beside another. */
import type { RunHead } from '../../src/view/viewed-run.ts';
import { go, hrefOf } from '../route.ts';
import type { States } from '../server.ts';
import { ComparedTasks } from './compared-tasks.tsx';
import { HeatMap } from './heat-map.tsx';
import { ScoredTasksList } from './scored-tasks-list.tsx';
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
  const other = others.find(({ name }) => name === query.with);
  return (
    <>
      {others.length > 0 && (
        <label class="inline">
          {run.name} beside
          <select
            value={other?.name ?? ''}
            onChange={({ currentTarget }) =>
              go(hrefOf('tasks', { run: run.name, with: currentTarget.value }), { isStep: false })
            }
          >
            <option value="">no other</option>
            {others.map(({ name }) => (
              <option key={name}>{name}</option>
            ))}
          </select>
        </label>
      )}
      {other ? (
        <ComparedTasks run={run} other={other} query={query} states={states} />
      ) : (
        <ScoredTasksList run={run} query={query} states={states} />
      )}
    </>
  );
}
