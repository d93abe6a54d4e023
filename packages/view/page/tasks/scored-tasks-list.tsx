/** The tasks of an evaluation: those that it got wrong come first. */
import type { RunHead } from '../../src/view/viewed-run.ts';
import { plural, whole } from '../numbers.ts';
import { go, hrefOf } from '../route.ts';
import { KindTable } from '../scores/kind-table.tsx';
import { type States, useAnswer } from '../server.ts';

interface Props {
  run: RunHead;
  query: Readonly<Record<string, string>>;
  states: States;
}

const pageRows = 200;

export function ScoredTasksList({ run, query, states }: Props) {
  const version = JSON.stringify(states[run.name]?.episodes);
  const { answer, problem } = useAnswer('/api/task-scores', { run: run.name }, version);
  const change = (changes: object) =>
    go(hrefOf('tasks', { ...query, run: run.name, ...changes }), { isStep: false });
  if (problem) return <p class="problem">{problem}</p>;
  if (!answer) return <p class="nothing">Loading …</p>;
  const { score, solved, tasks, kinds } = answer;
  const count = Math.max(pageRows, Number(query.count) || 0);
  return (
    <section aria-label="Tasks of the evaluation">
      <p class="count" role="status">
        {whole(solved)} of {plural(tasks.length, 'task')} are right by {score}.
      </p>
      <KindTable
        score={score}
        kinds={kinds}
        runs={[run.name]}
        field={query.field}
        onChoose={(field) => change({ field })}
      />
      <ul class="tasks">
        {tasks.slice(0, count).map(({ key, question, mean, isSolved, episode }) => (
          <li key={key}>
            <a class="compared" href={hrefOf('episode', { run: run.name, number: episode })}>
              <span class={`flip ${isSolved ? 'good' : 'bad'}`}>{isSolved ? '✓ right' : '✗ wrong'}</span>
              <span class="number">{mean.toFixed(2)}</span>
              <span class="question-text">{question}</span>
            </a>
          </li>
        ))}
      </ul>
      {tasks.length > count && (
        <p>
          <button type="button" onClick={() => change({ count: count + 5 * pageRows })}>
            {plural(tasks.length - count, 'more task')}
          </button>
        </p>
      )}
    </section>
  );
}
