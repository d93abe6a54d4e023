/** The conditions of the list: each is part of the page's address. */
import { useEffect, useState } from 'preact/hooks';
import type { Facets } from '../../src/view/episode-index.ts';
import { whole } from '../numbers.ts';

export const conditions = [
  'reward',
  'outcome',
  'mistake',
  'tool',
  'step',
  'task',
  'group',
  'kind',
  'text',
] as const;
export type Condition = (typeof conditions)[number];
export type Filter = Readonly<Partial<Record<Condition | 'run' | 'sort', string>>>;

interface Props {
  filter: Filter;
  facets: Facets | undefined;
  onChange(changes: Filter): void;
}

export function FilterBar({ filter, facets, onChange }: Props) {
  const chosen = conditions.filter((name) => filter[name]);
  return (
    <form class="bar" onSubmit={(event) => event.preventDefault()}>
      <Words name="text" label="text" hint="written or read" filter={filter} onChange={onChange} />
      <Words name="reward" label="reward" hint=">0.5 or 0..0.5" filter={filter} onChange={onChange} />
      <Words name="step" label="step" hint="3 or 3..5" filter={filter} onChange={onChange} />
      <Choice name="outcome" counts={facets?.outcomes} filter={filter} onChange={onChange} />
      <Choice name="mistake" counts={facets?.mistakes} filter={filter} onChange={onChange} />
      <Choice name="tool" counts={facets?.tools} filter={filter} onChange={onChange} />
      {filter.task && <span class="chip">task {filter.task}</span>}
      {filter.group && <span class="chip">group {filter.group}</span>}
      {filter.kind && <span class="chip">{filter.kind.replace('=', ' ')}</span>}
      {chosen.length > 0 && (
        <button
          type="button"
          onClick={() => onChange(Object.fromEntries(conditions.map((name) => [name, ''])))}
        >
          Clear
        </button>
      )}
    </form>
  );
}

interface FieldProps {
  name: Condition;
  filter: Filter;
  onChange(changes: Filter): void;
}

/** Milliseconds after the last key, so that each letter is no search. */
const pause = 250;

function Words({ name, label, hint, filter, onChange }: FieldProps & { label: string; hint: string }) {
  const known = filter[name] ?? '';
  const [written, setWritten] = useState(known);
  useEffect(() => setWritten(known), [known]);
  useEffect(() => {
    if (written === known) return;
    const timer = setTimeout(() => onChange({ [name]: written }), pause);
    return () => clearTimeout(timer);
  }, [written]);
  return (
    <label>
      {label}
      <input
        id={`filter-${name}`}
        type="search"
        size={name === 'text' ? 22 : 11}
        placeholder={hint}
        value={written}
        onInput={({ currentTarget }) => setWritten(currentTarget.value)}
      />
    </label>
  );
}

function Choice({
  name,
  counts = {},
  filter,
  onChange,
}: FieldProps & { counts?: Readonly<Record<string, number>> }) {
  const chosen = filter[name] ?? '';
  const sorted = Object.entries(counts).sort(([, a], [, b]) => b - a);
  const isKnown = chosen === '' || Object.hasOwn(counts, chosen);
  return (
    <label>
      {name}
      <select value={chosen} onChange={({ currentTarget }) => onChange({ [name]: currentTarget.value })}>
        <option value="">any</option>
        {!isKnown && <option>{chosen}</option>}
        {sorted.map(([value, count]) => (
          <option key={value} value={value}>
            {value} ({whole(count)})
          </option>
        ))}
      </select>
    </label>
  );
}
