/** Chooses the columns of the run table. */
import { useState } from 'preact/hooks';
import { plural } from '../numbers.ts';
import { titleOf } from './run-columns.ts';

interface Props {
  all: readonly string[];
  chosen: readonly string[];
  onChange(columns: string[]): void;
}

/** Options that are listed at once: the others are found by a search. */
const most = 40;

export function ColumnChoice({ all, chosen, onChange }: Props) {
  const [sought, setSought] = useState('');
  const words = sought.trim().toLowerCase();
  const found = [...chosen.filter((column) => !all.includes(column)), ...all].filter((column) =>
    column.toLowerCase().includes(words),
  );
  const toggle = (column: string) =>
    onChange(chosen.includes(column) ? chosen.filter((each) => each !== column) : [...chosen, column]);
  return (
    <details class="columns">
      <summary>columns</summary>
      <div class="panel">
        <input
          type="search"
          aria-label="Search columns"
          placeholder="such as learningRate"
          value={sought}
          onInput={({ currentTarget }) => setSought(currentTarget.value)}
        />
        <ul>
          {found.slice(0, most).map((column) => (
            <li key={column}>
              <label title={column}>
                <input type="checkbox" checked={chosen.includes(column)} onChange={() => toggle(column)} />
                {titleOf(column)}
              </label>
            </li>
          ))}
        </ul>
        {found.length > most && (
          <small>and {plural(found.length - most, 'other column')}: search for them</small>
        )}
      </div>
    </details>
  );
}
