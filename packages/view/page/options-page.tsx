/** The options of the runs beside each other: those that differ first. */
import type { RunHead } from '../src/view/viewed-run.ts';
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
  const values = runs.map(({ facts }) => flat(facts));
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
                    .map(([option, { from, to }]) => `${option} ${text(from)} → ${text(to)}`)
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

/** Dotted names and the JSON of their values. */
function flat(value: object, prefix = ''): Map<string, string> {
  const entries = Object.entries(value).flatMap(([name, part]): [string, string][] => {
    const path = `${prefix}${name}`;
    const isGroup = typeof part === 'object' && part !== null && !Array.isArray(part);
    return isGroup ? [...flat(part, `${path}.`)] : [[path, text(part)]];
  });
  return new Map(entries);
}

function text(value: unknown): string {
  return typeof value === 'string' ? value : (JSON.stringify(value) ?? '–');
}
