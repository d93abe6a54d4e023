/** Episodes beside each other: the samples of a group, or the same task over the steps of training. */
import { useEffect, useMemo, useState } from 'preact/hooks';
import type { EpisodeRow } from '../../src/view/episode-index.ts';
import type { Answers } from '../../src/view/routes.ts';
import type { RunHead } from '../../src/view/viewed-run.ts';
import { Outcome, Reward } from '../episodes/columns.tsx';
import { useKeys } from '../keys.ts';
import { plural } from '../numbers.ts';
import { go, hrefOf } from '../route.ts';
import { ask, type States, useAnswer } from '../server.ts';
import { ColourChoice, nextColour } from './colour-choice.tsx';
import { commonPrefix } from './common-prefix.ts';
import { Conversation } from './conversation.tsx';
import { SharedBeginning } from './shared-beginning.tsx';
import { coloursOf } from './token-colours.ts';
import { ToolTable } from './tool-table.tsx';
import { VerdictMark } from './verdict-mark.tsx';
import './episode.css';

interface Props {
  run: RunHead;
  query: Readonly<Record<string, string>>;
  states: States;
}

type Loaded = Answers['/api/episode'];

/** Columns that fit on a page. */
const maxColumns = 12;

export function GroupPage({ run, query, states }: Props) {
  const { task, step, group } = query;
  const sort = task === undefined ? 'number' : 'step';
  const { answer, problem } = useAnswer(
    '/api/episodes',
    { run: run.name, task, step, group, sort, count: 1000 },
    JSON.stringify(states[run.name]?.episodes),
  );
  const rows = spread(answer?.rows ?? []);
  const [loaded, setLoaded] = useState<readonly Loaded[]>([]);
  const colourName = query.colour ?? '';
  const setColourName = (colour: string) => go(hrefOf('group', { ...query, colour }), { isStep: false });
  const numbers = rows.map(({ number }) => number).join();
  useEffect(() => {
    const left = new AbortController();
    const get = ({ number }: EpisodeRow) => ask('/api/episode', { run: run.name, number }, left.signal);
    Promise.all(rows.map(get)).then(setLoaded, () => {});
    return () => left.abort();
  }, [numbers]);
  const prefix = useMemo(() => commonPrefix(loaded.map(({ episode }) => episode)), [loaded]);
  const colours = loaded[0] ? coloursOf(loaded[0]) : [];
  const colour = colours.find(({ name }) => name === colourName);
  useKeys({
    c: () => setColourName(nextColour(colours, colour)),
    Escape: () => history.back(),
  });
  if (problem) return <p class="problem">{problem}</p>;
  const title =
    task === undefined
      ? `Group ${group}${step === undefined ? '' : ` of step ${step}`}`
      : `Task ${task} over the steps`;
  return (
    <section>
      <div class="bar">
        <h2>{title}</h2>
        <small>{answer && countText(answer.total, rows.length)}</small>
        <a href={hrefOf('episodes', { run: run.name, task, step, group })}>as a list</a>
        <ColourChoice colours={colours} chosen={colour} onChoose={setColourName} />
      </div>
      <p class="question">{rows[0]?.question}</p>
      {loaded.length > 0 && (
        <details class="group-tools">
          <summary>Tools of these episodes</summary>
          <ToolTable episodes={loaded.map(({ episode }) => episode)} />
        </details>
      )}
      {loaded[0] && prefix.opening && (
        <SharedBeginning of={loaded[0]} count={loaded.length} {...{ prefix, colour }} />
      )}
      <div class="columns" tabIndex={0} role="region" aria-label={title}>
        {loaded.map(({ row, episode, texts, learned, verdict }) => (
          <article key={row.number}>
            <h3>
              <a href={hrefOf('episode', { run: run.name, number: row.number })}>
                {task === undefined ? `sample ${row.sample}` : `step ${row.step ?? '–'}`}
              </a>{' '}
              <VerdictMark verdict={verdict} /> <Outcome end={row.end} /> <Reward value={row.reward} />
            </h3>
            <Conversation
              {...{ episode, texts, learned, colour }}
              from={prefix.turns}
              isOpened={prefix.opening}
            />
          </article>
        ))}
      </div>
    </section>
  );
}

/** The first, the last, and as many between them as fit. */
function spread(rows: readonly EpisodeRow[]): EpisodeRow[] {
  if (rows.length <= maxColumns) return [...rows];
  const last = rows.length - 1;
  return Array.from(
    { length: maxColumns },
    (_, index) => rows[Math.round((index * last) / (maxColumns - 1))]!,
  );
}

function countText(total: number, shown: number): string {
  return total > shown
    ? `${shown} of ${plural(total, 'episode')}, spread over them`
    : plural(total, 'episode');
}
