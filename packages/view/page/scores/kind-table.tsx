/** Scores by kind of task, for one run or for several. */
import type { KindScores } from '../../src/tasks/kind-scores.ts';
import { whole } from '../numbers.ts';
import { hrefOf } from '../route.ts';

interface Props {
  score: string;
  kinds: readonly KindScores[];
  runs: readonly string[];
  /** The field that is shown; default the first. */
  field: string | undefined;
  onChoose(field: string): void;
}

export function KindTable({ score, kinds, runs, field, onChoose }: Props) {
  const shown = kinds.find((each) => each.field === field) ?? kinds[0];
  if (!shown) return null;
  return (
    <section class="panel" aria-label="Kinds of tasks">
      <h2>
        {score} by{' '}
        <select
          aria-label="kind of task"
          value={shown.field}
          onChange={({ currentTarget }) => onChoose(currentTarget.value)}
        >
          {kinds.map((each) => (
            <option key={each.field}>{each.field}</option>
          ))}
        </select>
      </h2>
      <div class="scroll" tabIndex={0} role="region" aria-label={`Scores by ${shown.field}`}>
        <table class="scores">
          <thead>
            <tr>
              <th scope="col">{shown.field}</th>
              <th scope="col">tasks</th>
              {runs.map((name) => (
                <th key={name} scope="col">
                  {runs.length > 1 ? name : score}
                </th>
              ))}
            </tr>
          </thead>
          <tbody>
            {shown.kinds.map(({ value, tasks, means }) => (
              <tr key={value}>
                <th scope="row">{value}</th>
                <td class="number">{whole(tasks)}</td>
                {means.map((mean, index) => (
                  <td key={runs[index]} class="number">
                    {mean === null ? (
                      '–'
                    ) : (
                      <a
                        href={hrefOf('episodes', {
                          run: runs[index],
                          kind: `${shown.field}=${value}`,
                          sort: 'reward',
                        })}
                      >
                        {mean.toFixed(3)}
                      </a>
                    )}
                  </td>
                ))}
              </tr>
            ))}
          </tbody>
        </table>
      </div>
    </section>
  );
}
