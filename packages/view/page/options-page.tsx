/** The options of the runs beside each other: those that differ first. */
import type { RunHead } from '../src/view/viewed-run.ts';
import { flatOptions, textOf } from './flat-options.ts';
import { plural } from './numbers.ts';
import { go, hrefOf } from './route.ts';

interface Props {
  runs: readonly RunHead[];
  query: Readonly<Record<string, string>>;
}

export function OptionsPage({ runs, query }: Props) {
  const showsAll = query.all === undefined ? runs.length === 1 : query.all === 'yes';
  const showAll = (all: boolean) =>
    go(hrefOf('options', { ...query, all: all ? 'yes' : 'no' }), { isStep: false });
  const values = runs.map(({ facts }) => flatOptions(facts));
  const names = [...new Set(values.flatMap((each) => [...each.keys()]))];
  const differs = (name: string) => new Set(values.map((each) => each.get(name))).size > 1;
  const differing = names.filter(differs);
  const shown = showsAll ? [...differing, ...names.filter((name) => !differs(name))] : differing;
  return (
    <section>
      <h2>{runs.length > 1 ? differText(differing.length) : 'Options'}</h2>
      <label class="inline">
        <input type="checkbox" checked={showsAll} onChange={() => showAll(!showsAll)} /> all options
      </label>
      {shown.length === 0 && <p class="nothing">The options of these runs are the same.</p>}
      {shown.length > 0 && (
        <div class="scroll" tabIndex={0} role="region" aria-label="Options of the runs">
          <table class="options">
            <thead>
              <tr>
                <th scope="col">option</th>
                {runs.map(({ name }) => (
                  <th key={name} scope="col">
                    {name}
                  </th>
                ))}
              </tr>
            </thead>
            <tbody>
              {shown.map((name) => (
                <tr key={name} class={runs.length > 1 && differs(name) ? 'differs' : ''}>
                  <th scope="row">{name}</th>
                  {values.map((each, index) => (
                    <td key={runs[index]!.name}>{each.get(name) ?? '–'}</td>
                  ))}
                </tr>
              ))}
            </tbody>
          </table>
        </div>
      )}
      {runs
        .filter(({ changes }) => changes.length > 0)
        .map(({ name, changes }) => (
          <section key={name}>
            <h3>Changed while {name} was trained</h3>
            <ul>
              {changes.map(({ step, changes: changed }) => (
                <li key={step}>
                  from step {step}:{' '}
                  {Object.entries(changed)
                    .map(([option, { from, to }]) => `${option} ${textOf(from)} → ${textOf(to)}`)
                    .join(', ')}
                </li>
              ))}
            </ul>
          </section>
        ))}
    </section>
  );
}

function differText(count: number): string {
  return `${plural(count, 'option')} differ${count === 1 ? 's' : ''}`;
}
