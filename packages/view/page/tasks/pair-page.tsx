/** Two episodes of a task beside each other, with the first token that differs. */
import { useEffect } from 'preact/hooks';
import type { Answers } from '../../src/view/routes.ts';
import { ColourChoice } from '../episode/colour-choice.tsx';
import { Conversation } from '../episode/conversation.tsx';
import { coloursOf } from '../episode/token-colours.ts';
import { Outcome, Reward } from '../episodes/columns.tsx';
import { useKeys } from '../keys.ts';
import { go, hrefOf } from '../route.ts';
import { type States, useAnswer } from '../server.ts';
import { firstDifference, type TokenPlace } from './first-difference.ts';
import './tasks.css';

type Loaded = Answers['/api/episode'];

interface Props {
  query: Readonly<Record<string, string>>;
  states: States;
}

export function PairPage({ query, states }: Props) {
  const { run = '', number, with: other = '', other: otherNumber } = query;
  const count = (name: string) => states[name]?.episodes.count ?? 0;
  const first = useAnswer('/api/episode', { run, number }, count(run) > Number(number));
  const second = useAnswer(
    '/api/episode',
    { run: other, number: otherNumber },
    count(other) > Number(otherNumber),
  );
  const [one, two] = [first.answer, second.answer];
  const marked = one && two && firstDifference(one.episode, two.episode);
  useEffect(() => document.getElementById('marked')?.scrollIntoView({ block: 'center' }), [one, two]);
  useKeys({ Escape: () => history.back() });
  const problem = first.problem ?? second.problem;
  if (problem) return <p class="problem">{problem}</p>;
  if (!one || !two) return <p class="nothing">Loading …</p>;
  const colours = coloursOf(one);
  const name = query.colour ?? 'probability';
  const colour = colours.find((each) => each.name === name);
  return (
    <section>
      <div class="bar">
        <h2>{one.row.question}</h2>
        <ColourChoice
          colours={colours}
          chosen={colour}
          onChoose={(chosen) =>
            go(hrefOf('pair', { ...query, colour: chosen || 'nothing' }), { isStep: false })
          }
        />
      </div>
      <p class="count" role="status">
        {differenceText(one, two, marked)}
      </p>
      <div class="pair">
        {[one, two].map((loaded, index) => (
          <article key={index}>
            <h3>
              <a href={hrefOf('episode', { run: [run, other][index], number: loaded.row.number })}>
                {[run, other][index]}
              </a>{' '}
              <Outcome end={loaded.row.end} /> <Reward value={loaded.row.reward} />
            </h3>
            <Conversation {...loaded} colour={colour} marked={marked} />
          </article>
        ))}
      </div>
    </section>
  );
}

function differenceText(one: Loaded, two: Loaded, place: TokenPlace | undefined): string {
  if (!place) return 'All sampled tokens are the same, or none were recorded.';
  const [a, b] = [one, two].map(({ texts }) => {
    const text = texts.turns[place.turn]?.sampled[place.token];
    return text === undefined ? 'nothing' : JSON.stringify(text);
  });
  return `The first difference: token ${place.token + 1} of turn ${place.turn + 1}, ${a} and ${b}.`;
}
