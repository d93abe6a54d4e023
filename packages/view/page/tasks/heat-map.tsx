/** A row for each task, a cell for each step in which the task was played, darker for a higher reward. A click opens the group. */
import {
  type TaskCell,
  type TaskKind,
  type TaskMap,
  type TaskRow,
  taskKinds,
} from '../../src/tasks/task-map.ts';
import type { RunHead } from '../../src/view/viewed-run.ts';
import { plural, short, whole } from '../numbers.ts';
import { go, hrefOf } from '../route.ts';
import { type States, useAnswer } from '../server.ts';

interface Props {
  run: RunHead;
  query: Readonly<Record<string, string>>;
  states: States;
}

const orders = [
  ['', 'played most often'],
  ['learned', 'learned last'],
  ['forgotten', 'forgotten'],
  ['never', 'never solved'],
] as const;

const meanings: Readonly<Record<TaskKind, string>> = {
  learned: 'learned',
  forgotten: 'forgotten',
  never: 'never solved',
  always: 'always solved',
};

const pageRows = 100;

export function HeatMap({ run, query, states }: Props) {
  const { sort, kind, count = String(pageRows) } = query;
  const { answer, problem } = useAnswer(
    '/api/tasks',
    { run: run.name, sort, kind, count },
    JSON.stringify(states[run.name]?.episodes),
  );
  const change = (changes: object) =>
    go(hrefOf('tasks', { ...query, run: run.name, ...changes }), { isStep: false });
  if (problem) return <p class="problem">{problem}</p>;
  if (!answer) return <p class="nothing">Loading …</p>;
  if (answer.columns.length === 0) return <p class="nothing">The run has no scored episodes yet.</p>;
  const { rows, total, counts, range } = answer;
  return (
    <section aria-label="Tasks over the steps">
      <div class="bar">
        <label>
          first
          <select value={sort ?? ''} onChange={({ currentTarget }) => change({ sort: currentTarget.value })}>
            {orders.map(([name, label]) => (
              <option key={name} value={name}>
                {label}
              </option>
            ))}
          </select>
        </label>
        <label>
          show
          <select value={kind ?? ''} onChange={({ currentTarget }) => change({ kind: currentTarget.value })}>
            <option value="">
              all tasks ({whole(taskKinds.reduce((sum, name) => sum + counts[name], 0))})
            </option>
            {taskKinds.map((name) => (
              <option key={name} value={name}>
                {meanings[name]} ({whole(counts[name])})
              </option>
            ))}
          </select>
        </label>
        <span class="scale">
          {short(range[0])}
          <span class="scale-bar" aria-hidden="true" />
          {short(range[1])} mean reward
        </span>
      </div>
      <p class="count">
        Solved means that more than half of the outcome is right. Each cell is a group and opens it.
      </p>
      <Columns of={answer} />
      <ul class="tasks">
        {rows.map((row) => (
          <Row key={row.task} run={run.name} row={row} map={answer} />
        ))}
      </ul>
      {total > rows.length && (
        <p>
          <button type="button" onClick={() => change({ count: rows.length + 2 * pageRows })}>
            {plural(total - rows.length, 'more task')}
          </button>
        </p>
      )}
    </section>
  );
}

function Columns({ of: { columns } }: { of: TaskMap }) {
  const [first, last] = [columns[0]![0], columns.at(-1)![1]];
  return (
    <div class="task head" aria-hidden="true">
      <span>task</span>
      <span class="ends-of-steps">
        <span>step {first}</span>
        <span>{last}</span>
      </span>
      <span class="kind">since</span>
    </div>
  );
}

function Row({ run, row, map }: { run: string; row: TaskRow; map: TaskMap }) {
  const { task, question, kind, since, cells } = row;
  return (
    <li class="task">
      <a class="question-link" href={hrefOf('group', { run, task })} title={question}>
        {question || `task ${task}`}
      </a>
      <span class="cells" style={{ gridTemplateColumns: `repeat(${map.columns.length}, minmax(0, 1fr))` }}>
        {cells.map((cell) => (
          <Cell key={cell.column} run={run} cell={cell} range={map.range} />
        ))}
      </span>
      <span class="kind">
        {meanings[kind]}
        {since !== undefined && <small> {since}</small>}
      </span>
    </li>
  );
}

function Cell({ run, cell, range: [low, high] }: { run: string; cell: TaskCell; range: TaskMap['range'] }) {
  const { column, step, group, reward, episodes } = cell;
  const share = Math.round((100 * (reward - low)) / (high - low));
  const text = `step ${step}: mean reward ${reward.toFixed(3)} of ${plural(episodes, 'episode')}`;
  return (
    <a
      class="cell"
      href={hrefOf('group', { run, step, group })}
      title={text}
      style={{
        gridColumn: column + 1,
        background: `color-mix(in oklab, var(--heat-high) ${share}%, var(--heat-low))`,
      }}
    >
      <span class="unseen">{text}</span>
    </a>
  );
}
