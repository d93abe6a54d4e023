/** The runs of the page, each with its colour; a click hides its curves. */
import type { RunHead } from '../src/view/viewed-run.ts';
import { plural } from './numbers.ts';
import { hrefOf } from './route.ts';
import { colourOf } from './run-colours.ts';
import type { States } from './server.ts';

interface Props {
  runs: readonly RunHead[];
  /** How many runs the page has. */
  of: number;
  states: States;
  hidden: ReadonlySet<string>;
  onHide(hidden: ReadonlySet<string>): void;
}

export function RunList({ runs, of, states, hidden, onHide }: Props) {
  const toggle = (name: string) => {
    const next = new Set(hidden);
    if (!next.delete(name)) next.add(name);
    onHide(next);
  };
  return (
    <ul class="runs" aria-label="Runs">
      {runs.map(({ name, path, kind }, index) => (
        <li key={name}>
          <label title={`${path} (${kind})`}>
            <input
              type="checkbox"
              checked={!hidden.has(name)}
              onChange={() => toggle(name)}
              style={{ accentColor: colourOf(index) }}
            />
            <span class="swatch" style={{ background: colourOf(index) }} />
            {name}
            <small>{episodesText(states[name]?.episodes.count ?? 0)}</small>
          </label>
        </li>
      ))}
      {runs.length < of && (
        <li>
          <small>
            {plural(runs.length, 'run')} of {of}: <a href={hrefOf('runs')}>choose others</a>
          </small>
        </li>
      )}
    </ul>
  );
}

function episodesText(count: number): string {
  return count === 0 ? '' : plural(count, 'episode');
}
