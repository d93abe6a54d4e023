/** One episode: its conversation, its tokens in colours, and how it ended. */
import type { RunHead } from '../../src/view/viewed-run.ts';
import { Outcome, Reward } from '../episodes/columns.tsx';
import { useKeys } from '../keys.ts';
import { go, hrefOf } from '../route.ts';
import { type States, useAnswer } from '../server.ts';
import { ColourChoice, nextColour } from './colour-choice.tsx';
import { Conversation } from './conversation.tsx';
import { coloursOf } from './token-colours.ts';

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
      <Conversation {...{ episode, texts, learned, colour }} />
      <footer>
        <h3>
          <Outcome end={row.end} /> reward <Reward value={row.reward} />
        </h3>
        {episode.outcome.kind === 'aborted' && <p class="bad">{episode.outcome.cause.message}</p>}
        <table class="rewards">
          <thead>
            <tr>
              <th scope="col">component</th>
              <th scope="col">score</th>
              <th scope="col">weight</th>
              <th scope="col">kind</th>
            </tr>
          </thead>
          <tbody>
            {Object.entries(episode.rewardSpec).map(([name, { weight, kind }]) => (
              <tr key={name}>
                <th scope="row">{name}</th>
                <td>{episode.rewards[name] ?? 'not scored'}</td>
                <td>{weight}</td>
                <td>{kind}</td>
              </tr>
            ))}
          </tbody>
        </table>
        <details>
          <summary>The task</summary>
          <pre>{JSON.stringify(episode.task, null, 2)}</pre>
        </details>
      </footer>
    </article>
  );
}
