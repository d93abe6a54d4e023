/** The newest episodes of a run, as they end. */
import { hrefOf } from '../route.ts';
import { useAnswer } from '../server.ts';

const most = 5;

export function NewestEpisodes({ run, version }: { run: string; version: string }) {
  const { answer } = useAnswer('/api/episodes', { run, sort: '-number', count: most }, version);
  if (!answer || answer.rows.length === 0) return null;
  return (
    <section class="panel">
      <h2>Newest episodes</h2>
      <ol class="newest">
        {answer.rows.map(({ number, question, answer: last, reward, end }) => (
          <li key={number}>
            <a class="newest-question" href={hrefOf('episode', { run, number })}>
              {question || `episode ${number}`}
            </a>
            <span class="number">{reward === null ? '–' : reward.toFixed(2)}</span>
            <small class="newest-answer">{last || end}</small>
          </li>
        ))}
      </ol>
    </section>
  );
}
