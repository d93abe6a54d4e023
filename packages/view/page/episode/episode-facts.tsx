/** The column beside an episode: was it right, what was right, what was rewarded, its turns and its tools. */
import type { Answers } from '../../src/view/routes.ts';
import type { RunHead } from '../../src/view/viewed-run.ts';
import { Outcome, Reward } from '../episodes/columns.tsx';
import { report } from '../report.ts';
import { CopyButton } from './copy-button.tsx';
import { playCommand } from './play-command.ts';
import { rightAnswer } from './right-answer.ts';
import { Solution } from './solution.tsx';
import { ToolTable } from './tool-table.tsx';
import { TurnOutline } from './turn-outline.tsx';
import { VerdictMark } from './verdict-mark.tsx';

interface Props {
  run: RunHead;
  query: Readonly<Record<string, string>>;
  of: Answers['/api/episode'];
}

/** A phone has the column above the conversation, so that its long parts are closed. */
const isWide = matchMedia('(min-width: 60rem)').matches;

export function EpisodeFacts({ run, query, of }: Props) {
  const { row, episode, verdict, solution } = of;
  const answer = rightAnswer(of);
  const { outcome } = episode;
  return (
    <aside class="episode-facts" aria-label="About this episode" tabIndex={0}>
      <p class="ending">
        <VerdictMark verdict={verdict} /> <Outcome end={row.end} />
      </p>
      {outcome.kind === 'aborted' && <p class="bad">{outcome.cause.message}</p>}
      {answer !== undefined && (
        <dl class="answers">
          <dt>right answer</dt>
          <dd tabIndex={0}>{answer}</dd>
        </dl>
      )}
      <RewardTable episode={episode} />
      <details open={isWide}>
        <summary>Turns</summary>
        <TurnOutline steps={episode.steps} query={query} />
      </details>
      <details open={isWide}>
        <summary>Tools</summary>
        <ToolTable episodes={[episode]} />
      </details>
      {solution?.turns.some(({ calls }) => calls.length > 0) && (
        <details>
          <summary>A solution</summary>
          <Solution turns={solution.turns} />
        </details>
      )}
      <details>
        <summary>The task</summary>
        <pre>{JSON.stringify(episode.task, null, 2)}</pre>
      </details>
      <Actions run={run} of={of} />
    </aside>
  );
}

function RewardTable({ episode: { reward, rewards, rewardSpec } }: Pick<Props['of'], 'episode'>) {
  return (
    <table class="rewards">
      <thead>
        <tr>
          <th scope="col">reward</th>
          <th scope="col">
            <Reward value={reward} />
          </th>
          <th scope="col">weight</th>
        </tr>
      </thead>
      <tbody>
        {Object.entries(rewardSpec).map(([name, { weight, kind }]) => (
          <tr key={name}>
            <th scope="row">
              {name} {kind === 'process' && <small>process</small>}
            </th>
            <td>{rewards[name] ?? 'not scored'}</td>
            <td>× {weight}</td>
          </tr>
        ))}
      </tbody>
    </table>
  );
}

function Actions({ run, of: { episode, row } }: Omit<Props, 'query'>) {
  // Whoever reads a report does not have its runs.
  const command = report ? undefined : playCommand(run, { env: episode.env, number: row.number });
  return (
    <p class="actions">
      {command !== undefined && (
        <CopyButton name="Replay in play" title={`Copies: ${command}`} text={() => command} />
      )}
      <CopyButton name="Copy as JSON" text={() => JSON.stringify(episode, null, 2)} />
    </p>
  );
}
