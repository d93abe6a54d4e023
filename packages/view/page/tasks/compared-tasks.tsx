/** The tasks of two evaluations: those that only one of them solved come first. */
import type { Flip } from '../../src/tasks/compare-tasks.ts';
import type { RunHead } from '../../src/view/viewed-run.ts';
import { plural, whole } from '../numbers.ts';
import { go, hrefOf } from '../route.ts';
import { type States, useAnswer } from '../server.ts';

interface Props {
  run: RunHead;
  other: RunHead;
  query: Readonly<Record<string, string>>;
  states: States;
}

const words: Readonly<Record<Flip, string>> = { lost: '▼ lost', won: '▲ won', same: '= the same' };

export function ComparedTasks({ run, other, query, states }: Props) {
  const shows = query.show ?? 'flipped';
  const version = [run, other].map(({ name }) => states[name]?.episodes.count).join();
  const { answer, problem } = useAnswer('/api/compared', { run: run.name, with: other.name }, version);
  const change = (changes: object) =>
    go(hrefOf('tasks', { run: run.name, with: other.name, show: shows, ...changes }), { isStep: false });
  if (problem) return <p class="problem">{problem}</p>;
  if (!answer) return <p class="nothing">Loading …</p>;
  const { score, counts, rows, unpaired } = answer;
  const shown = rows.filter(({ flip }) => shows === 'all' || flip !== 'same');
  return (
    <section aria-label="Compared tasks">
      <div class="bar">
        <label>
          show
          <select value={shows} onChange={({ currentTarget }) => change({ show: currentTarget.value })}>
            <option value="flipped">tasks that flipped ({whole(counts.lost + counts.won)})</option>
            <option value="all">all common tasks ({whole(rows.length)})</option>
          </select>
        </label>
      </div>
      <p class="count" role="status">
        {other.name} lost {plural(counts.lost, 'task')} and won {whole(counts.won)} by {score};{' '}
        {whole(counts.same)} are the same{unpaired > 0 ? `; ${plural(unpaired, 'task')} of only one` : ''}.
      </p>
      {shown.length === 0 && (
        <p class="nothing">{rows.length === 0 ? 'They have no common task.' : 'No task flipped.'}</p>
      )}
      <ul class="tasks">
        {shown.map(({ question, flip, before, after, episodes: [one, two] }) => (
          <li key={one}>
            <a
              class="compared"
              href={hrefOf('pair', { run: run.name, number: one, with: other.name, other: two })}
            >
              <span class={`flip ${flip === 'lost' ? 'bad' : flip === 'won' ? 'good' : 'soft'}`}>
                {words[flip]}
              </span>
              <span class="number">
                {before.toFixed(2)} → {after.toFixed(2)}
              </span>
              <span class="question-text">{question}</span>
            </a>
          </li>
        ))}
      </ul>
    </section>
  );
}
