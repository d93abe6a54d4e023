/** The table of the runs: sorted, searched, with columns of the reader's choice. Its state is in the address. */
import type { JSX } from 'preact';
import { useEffect, useMemo, useRef, useState } from 'preact/hooks';
import type { RunOverview } from '../../src/overview/run-overview.ts';
import type { RunHead } from '../../src/view/viewed-run.ts';
import { useVirtualRows } from '../episodes/use-virtual-rows.ts';
import { useKeys } from '../keys.ts';
import { plural, short, whole } from '../numbers.ts';
import { go, hrefOf } from '../route.ts';
import { colourOf } from '../run-colours.ts';
import { filterRuns, groupBySeed, type SeedGroup, sortRuns } from './arrange-runs.ts';
import { ColumnChoice } from './column-choice.tsx';
import {
  cellText,
  columnsOf,
  defaultColumns,
  entryOf,
  headlineOf,
  type RunEntry,
  titleOf,
} from './run-columns.ts';
import { Sparkline } from './sparkline.tsx';
import { StatusBadge } from './status-badge.tsx';
import './runs.css';

interface Props {
  runs: readonly RunHead[];
  overviews: Readonly<Record<string, RunOverview>>;
  query: Readonly<Record<string, string>>;
}

/** Pixels. */
const rowHeight = 46;

/** Most runs that are compared at once. */
const maxCompared = 8;

export function RunsPage({ runs, overviews, query }: Props) {
  const { q: text = '', sort = '', seeds = '' } = query;
  const columns = query.columns === undefined ? defaultColumns : query.columns.split(',').filter(Boolean);
  const [marked, setMarked] = useState<ReadonlySet<string>>(new Set());
  const entries = useMemo(
    () => runs.map((head, index) => entryOf(head, index, overviews[head.name])),
    [runs, overviews],
  );
  const all = useMemo(() => columnsOf(entries), [entries]);
  const groups = useMemo(() => {
    const shown = sortRuns(filterRuns(entries, text), sort);
    return seeds === ''
      ? shown.map((run): SeedGroup => ({ runs: [run], numbers: new Map() }))
      : groupBySeed(shown, columns);
  }, [entries, text, sort, seeds, query.columns]);
  const count = groups.reduce((sum, group) => sum + group.runs.length, 0);
  const scroller = useRef<HTMLDivElement>(null);
  const { items, height, scrollTo } = useVirtualRows(scroller, { count: groups.length, rowHeight });
  useEffect(() => scrollTo(0), [text, sort, seeds]);
  useKeys({ '/': () => document.getElementById('run-filter')?.focus() });

  const change = (changes: object) => go(hrefOf('runs', { ...query, ...changes }), { isStep: false });
  const sortBy = (column: string) => change({ sort: sort === `-${column}` ? column : `-${column}` });
  const toggle = (name: string) => {
    const next = new Set(marked);
    if (!next.delete(name)) next.add(name);
    setMarked(next);
  };
  const compared = [...marked].slice(0, maxCompared).join(',');
  const gridTemplateColumns = `minmax(14rem, 2fr) ${columns.map(widthOf).join(' ')}`;
  const style = { gridTemplateColumns, minWidth: `${14 + 9 * columns.length}rem` };
  return (
    <section class="all-runs" aria-label="Runs">
      <div class="bar">
        <label>
          search
          <input
            id="run-filter"
            type="search"
            placeholder="grpo seed=1 score>0.9"
            value={text}
            onInput={({ currentTarget }) => change({ q: currentTarget.value })}
          />
        </label>
        <label>
          <input
            type="checkbox"
            checked={seeds !== ''}
            onChange={() => change({ seeds: seeds === '' ? 'together' : '' })}
          />
          seeds together
        </label>
        <ColumnChoice
          all={all}
          chosen={columns}
          onChange={(names) => change({ columns: names.join(',') || ',' })}
        />
        {marked.size > 0 && (
          <span class="compare">
            compare {plural(Math.min(marked.size, maxCompared), 'run')}:{' '}
            <a href={hrefOf('curves', { runs: compared })}>curves</a>{' '}
            <a href={hrefOf('options', { runs: compared })}>options</a>{' '}
            <a href={hrefOf('scores', { runs: compared })}>scores</a>
          </span>
        )}
      </div>
      <p class="count" role="status">
        {count === runs.length ? plural(count, 'run') : `${whole(count)} of ${plural(runs.length, 'run')}`}
        {seeds !== '' && `, ${plural(groups.length, 'group')}`}
      </p>
      <div
        class="table"
        role="grid"
        aria-label="Runs"
        aria-rowcount={groups.length + 1}
        ref={scroller}
        tabIndex={0}
      >
        <div role="row" class="row head" aria-rowindex={1} style={style}>
          {['name', ...columns].map((column) => (
            <div key={column} role="columnheader" class={classOf(column)} aria-sort={sortOf(column, sort)}>
              <button type="button" onClick={() => sortBy(column)} title={column}>
                {column === 'name' ? 'run' : titleOf(column)}
                {sort === column ? ' ▲' : sort === `-${column}` ? ' ▼' : ''}
              </button>
            </div>
          ))}
        </div>
        <div
          role="rowgroup"
          class="run-rows"
          style={{ height: `${height}px`, position: 'relative', minWidth: style.minWidth }}
        >
          {items.map(({ index, start, size }) => {
            const group = groups[index];
            if (!group) return null;
            const place = { ...style, height: `${size}px`, transform: `translateY(${start}px)` };
            return (
              <div
                key={group.runs[0]!.head.name}
                role="row"
                class="row"
                aria-rowindex={index + 2}
                style={place}
              >
                <NameCell group={group} isMarked={(name) => marked.has(name)} onMark={toggle} />
                {columns.map((column) => (
                  <div key={column} role="gridcell" class={classOf(column)}>
                    <Cell group={group} column={column} />
                  </div>
                ))}
              </div>
            );
          })}
        </div>
      </div>
      {groups.length === 0 && <p class="nothing">No run matches.</p>}
    </section>
  );
}

interface NameProps {
  group: SeedGroup;
  isMarked(name: string): boolean;
  onMark(name: string): void;
}

function NameCell({ group: { runs }, isMarked, onMark }: NameProps) {
  const [{ head, index, overview }] = runs as [RunEntry];
  const { name, facts, kind } = head;
  const about = [facts.env, facts.trainer ?? kind].filter(Boolean).map(shortName).join(' · ');
  if (runs.length > 1) {
    const names = runs.map(({ head }) => head.name);
    return (
      <div role="gridcell" class="run-name">
        <a href={hrefOf('curves', { runs: names.join(','), seeds: 'together' })}>
          <b>{name}</b>
          <small>
            and {plural(runs.length - 1, 'other seed')} · {about}
          </small>
        </a>
      </div>
    );
  }
  return (
    <div role="gridcell" class="run-name">
      <input
        type="checkbox"
        aria-label={`Compare ${name}`}
        checked={isMarked(name)}
        onChange={() => onMark(name)}
        style={{ accentColor: colourOf(index) }}
      />
      <a href={hrefOf('overview', { run: name })}>
        <b>{name}</b>
        <small title={head.notes?.note}>
          {[about, ...(head.notes?.tags ?? []).map((tag) => `#${tag}`)].join(' ')}
        </small>
      </a>
      <Sparkline values={overview?.curve ?? []} colour={colourOf(index)} />
    </div>
  );
}

function Cell({ group: { runs, numbers }, column }: { group: SeedGroup; column: string }): JSX.Element {
  const [first] = runs as [RunEntry];
  if (runs.length > 1) {
    const found = numbers.get(column);
    if (found) return <>{spreadText(found)}</>;
    const texts = [...new Set(runs.map((run) => cellText(run, column)))];
    return <>{texts.join(', ')}</>;
  }
  const { overview } = first;
  if (column === 'status' && overview) return <StatusBadge status={overview.status} />;
  if (column === 'progress' && overview) {
    const { done, of, unit } = overview.progress;
    return (
      <>
        {done}
        {of !== undefined && <small> / {of}</small>}
        <small> {unit}s</small>
      </>
    );
  }
  if (column === 'score' && overview) {
    const name = headlineOf(overview)?.name;
    return (
      <>
        {name !== undefined && <small>{name} </small>}
        {cellText(first, column)}
      </>
    );
  }
  if (column === 'fault' && first.values.has('fault'))
    return <span class="fault">▲ {cellText(first, column)}</span>;
  const text = cellText(first, column);
  return <span title={text}>{text}</span>;
}

function spreadText({ mean, deviation }: { mean: number; deviation?: number }): string {
  const size = Math.abs(mean) < 10 && !Number.isInteger(mean) ? mean.toFixed(3) : short(mean);
  return deviation === undefined
    ? size
    : `${size} ± ${deviation < 10 ? deviation.toFixed(3) : short(deviation)}`;
}

function sortOf(column: string, sort: string): 'ascending' | 'descending' | 'none' {
  if (sort === column) return 'ascending';
  return sort === `-${column}` ? 'descending' : 'none';
}

const widths: Readonly<Record<string, string>> = {
  fault: 'minmax(12rem, 2fr)',
  begun: '9.5rem',
  status: '7rem',
};

function widthOf(column: string): string {
  return widths[column] ?? 'minmax(6rem, 1fr)';
}

function classOf(column: string): string {
  return /^(name|status|fault|begun)$/.test(column) ? '' : 'number';
}

/** `@toolenv/envs-qa/bridge-v1` → `bridge-v1`. */
function shortName(reference: unknown): string {
  return String(reference).split('/').at(-1)!;
}
