/** The list of a run's episodes: filtered, sorted, and opened by mouse or by keyboard. */
import { useEffect, useRef, useState } from 'preact/hooks';
import type { RunHead, RunState } from '../../src/view/viewed-run.ts';
import { useKeys } from '../keys.ts';
import { plural, whole } from '../numbers.ts';
import { go, hrefOf } from '../route.ts';
import type { States } from '../server.ts';
import { columns, gridColumns } from './columns.tsx';
import { conditions, type Filter, FilterBar } from './filter-bar.tsx';
import { useRows } from './use-rows.ts';
import { useVirtualRows } from './use-virtual-rows.ts';

interface Props {
  run: RunHead;
  states: States;
  query: Readonly<Record<string, string>>;
}

const rowHeight = 32;
/** The chosen row of each list that was left, so that coming back finds it. */
const places = new Map<string, number>();

export function EpisodesPage({ run, states, query }: Props) {
  const filter: Filter = { ...query, run: run.name };
  const place = JSON.stringify(filter);
  const scroller = useRef<HTMLDivElement>(null);
  const [chosen, setChosen] = useState(() => places.get(place) ?? 0);
  const [total, setTotal] = useState(0);
  const { items, height, scrollTo } = useVirtualRows(scroller, { count: total, rowHeight });
  const asked = Object.fromEntries(
    [...conditions, 'sort' as const].flatMap((name) => (filter[name] ? [[name, filter[name]]] : [])),
  );
  const { list, problem, isAsking, row } = useRows(
    { run: run.name, ...asked },
    JSON.stringify(states[run.name]?.episodes),
    [items[0]?.index ?? 0, items.at(-1)?.index ?? 0],
  );
  useEffect(() => {
    if (list) setTotal(list.total);
  }, [list?.total]);
  useEffect(() => {
    const before = places.get(place) ?? 0;
    setChosen(before);
    scrollTo(before);
  }, [place]);
  // A list that is shown again has its rows only now.
  useEffect(() => scrollTo(chosen), [total > 0]);

  const change = (changes: Filter) => go(hrefOf('episodes', { ...filter, ...changes }), { isStep: false });
  const choose = (index: number) => {
    const next = Math.min(Math.max(index, 0), Math.max(total - 1, 0));
    setChosen(next);
    places.set(place, next);
    scrollTo(next);
  };
  const openRow = (index: number) => {
    const opened = row(index);
    if (!opened) return;
    places.set(place, index);
    go(hrefOf('episode', { run: run.name, number: opened.number }));
  };
  const page = Math.max(1, Math.floor((scroller.current?.clientHeight ?? 0) / rowHeight) - 1);
  useKeys({
    j: () => choose(chosen + 1),
    k: () => choose(chosen - 1),
    ArrowDown: () => choose(chosen + 1),
    ArrowUp: () => choose(chosen - 1),
    PageDown: () => choose(chosen + page),
    PageUp: () => choose(chosen - page),
    Home: () => choose(0),
    End: () => choose(total - 1),
    Enter: () => openRow(chosen),
    '/': () => document.getElementById('filter-text')?.focus(),
    Escape: () => scroller.current?.focus(),
  });

  const sortBy = (name: string) => change({ sort: filter.sort === `-${name}` ? name : `-${name}` });
  return (
    <section class="episodes">
      <FilterBar filter={filter} facets={list?.facets} onChange={change} />
      {problem && (
        <p class="problem" role="alert">
          {problem}
        </p>
      )}
      <p class="count" role="status">
        {isAsking ? 'Searching …' : list && countText(list)}
      </p>
      <div
        class="table"
        role="grid"
        aria-label={`Episodes of ${run.name}`}
        aria-rowcount={total + 1}
        aria-activedescendant={total > 0 ? `row-${chosen}` : undefined}
        ref={scroller}
        tabIndex={0}
      >
        <div role="row" class="row head" aria-rowindex={1} style={{ gridTemplateColumns: gridColumns }}>
          {columns.map(({ sort, name, isNumber }) => (
            <div
              key={sort}
              role="columnheader"
              class={isNumber ? 'number' : ''}
              aria-sort={
                filter.sort === sort ? 'ascending' : filter.sort === `-${sort}` ? 'descending' : 'none'
              }
            >
              <button type="button" onClick={() => sortBy(sort)}>
                {name}
                {filter.sort === sort ? ' ▲' : filter.sort === `-${sort}` ? ' ▼' : ''}
              </button>
            </div>
          ))}
        </div>
        <div role="rowgroup" style={{ height: `${height}px`, position: 'relative' }}>
          {items.map(({ index, start, size }) => {
            const shown = row(index);
            return (
              <div
                key={index}
                id={`row-${index}`}
                role="row"
                class={`row ${index === chosen ? 'chosen' : ''}`}
                aria-rowindex={index + 2}
                aria-selected={index === chosen}
                style={{
                  gridTemplateColumns: gridColumns,
                  height: `${size}px`,
                  transform: `translateY(${start}px)`,
                }}
                onClick={(event) => {
                  // The browser opens another tab or window.
                  if (event.ctrlKey || event.metaKey || event.shiftKey) return;
                  event.preventDefault();
                  openRow(index);
                }}
              >
                {columns.map(({ sort, isNumber, cell }) => (
                  <div key={sort} role="gridcell" class={isNumber ? 'number' : ''}>
                    {shown && sort === 'question' ? (
                      <a
                        class="row-link"
                        tabIndex={-1}
                        href={hrefOf('episode', { run: run.name, number: shown.number })}
                      >
                        {shown.question || `episode ${shown.number}`}
                      </a>
                    ) : shown ? (
                      cell(shown)
                    ) : (
                      '…'
                    )}
                  </div>
                ))}
              </div>
            );
          })}
        </div>
      </div>
      {list?.total === 0 && (
        <p class="nothing">{list.of === 0 ? whyNone(run, states[run.name]) : 'No episode matches.'}</p>
      )}
    </section>
  );
}

/** A run whose trainer learns from data never has episodes. */
function whyNone({ kind }: RunHead, state: RunState | undefined): string {
  if (kind === 'training' && (state?.metrics.count ?? 0) > 0)
    return 'The run has steps but no episodes: its trainer learns from data, or the run keeps no episodes.';
  return 'The run has no episodes yet.';
}

function countText({
  total,
  of,
  facets,
}: {
  total: number;
  of: number;
  facets?: { damaged: number };
}): string {
  const matching = total === of ? plural(of, 'episode') : `${whole(total)} of ${plural(of, 'episode')}`;
  return facets?.damaged ? `${matching}; ${plural(facets.damaged, 'damaged line')} in the file` : matching;
}
