/** One episode: its conversation, its tokens in colours, and beside it how it ended and what happened. */
import { useEffect } from 'preact/hooks';
import type { RunHead } from '../../src/view/viewed-run.ts';
import { useKeys } from '../keys.ts';
import { go, hrefOf } from '../route.ts';
import { type States, useAnswer } from '../server.ts';
import { ColourChoice, nextColour } from './colour-choice.tsx';
import { Conversation } from './conversation.tsx';
import { EpisodeFacts } from './episode-facts.tsx';
import { coloursOf } from './token-colours.ts';
import './episode.css';

interface Props {
  run: RunHead;
  query: Readonly<Record<string, string>>;
  states: States;
}

/** The colour that the reader chose last, by name. */
let lastColour = '';

export function EpisodePage({ run, query, states }: Props) {
  const number = Number(query.number ?? 0);
  const colourName = query.colour ?? lastColour;
  // An episode that is in the file never changes; the version matters only until it is there.
  const count = states[run.name]?.episodes.count ?? 0;
  const { answer, problem } = useAnswer('/api/episode', { run: run.name, number }, count > number);
  useEffect(() => {
    const turns = document.querySelectorAll('.inspector > .turns > li');
    if (answer && query.turn) turns[Number(query.turn) - 1]?.scrollIntoView();
  }, [answer, query.turn]);
  const colours = answer ? coloursOf(answer) : [];
  const colour = colours.find(({ name }) => name === colourName);
  const choose = (name: string) => {
    lastColour = name;
    go(hrefOf('episode', { ...query, colour: name || 'nothing' }), { isStep: false });
  };
  const row = answer?.row;
  const groupHref = row && hrefOf('group', { run: run.name, step: row.step, group: row.group });
  const taskHref = row && hrefOf('group', { run: run.name, task: row.task });
  const step = (by: number) => {
    const next = number + by;
    if (next >= 0 && next < count) go(hrefOf('episode', { run: run.name, number: next }), { isStep: false });
  };
  useKeys({
    n: () => step(1),
    p: () => step(-1),
    c: () => choose(nextColour(colours, colour)),
    Escape: () => history.back(),
    ...(groupHref && { g: () => go(groupHref) }),
    ...(taskHref && { t: () => go(taskHref) }),
  });
  if (problem) return <p class="problem">{problem}</p>;
  if (!answer || !row) return <p class="nothing">Loading …</p>;
  const { episode, texts, learned } = answer;
  return (
    <article class="episode">
      <div class="bar">
        <h2>
          {row.step === undefined ? '' : `step ${row.step} · `}task {row.task} · sample {row.sample}{' '}
          <small>{row.episodeId}</small>
        </h2>
        <a href={groupHref} title="g">
          group {row.group}
        </a>
        <a href={taskHref} title="t">
          this task over all steps
        </a>
        <ColourChoice colours={colours} chosen={colour} onChoose={choose} />
      </div>
      {colour && texts.note && <p class="note">{texts.note}</p>}
      <div class="inspector">
        <EpisodeFacts run={run} query={query} of={answer} />
        <Conversation {...{ episode, texts, learned, colour }} />
      </div>
    </article>
  );
}
