/** The runs of a folder: how each is going, how well it does, and what is wrong with it. */
import type { RunOverview } from '../../src/overview/run-overview.ts';
import type { RunHead } from '../../src/view/viewed-run.ts';
import { hrefOf } from '../route.ts';
import { colourOf } from '../run-colours.ts';
import { sentence } from '../sentence.ts';
import { StatusBadge } from './status-badge.tsx';
import './runs.css';

interface Props {
  runs: readonly RunHead[];
  overviews: Readonly<Record<string, RunOverview>>;
}

export function RunsPage({ runs, overviews }: Props) {
  return (
    <section aria-label="Runs">
      <div class="run-row head" aria-hidden="true">
        <span>run</span>
        <span>status</span>
        <span class="number">progress</span>
        <span class="number">score</span>
        <span class="number">reward</span>
        <span>likely fault</span>
      </div>
      <ul class="run-rows">
        {runs.map((head, index) => (
          <RunRow key={head.name} head={head} index={index} overview={overviews[head.name]} />
        ))}
      </ul>
    </section>
  );
}

function RunRow({
  head,
  index,
  overview,
}: {
  head: RunHead;
  index: number;
  overview: RunOverview | undefined;
}) {
  const { name, facts, kind } = head;
  const about = [facts.env, facts.trainer ?? kind].filter(Boolean).map(shortName).join(' · ');
  return (
    <li>
      <a class="run-row" href={hrefOf('overview', { run: name })}>
        <span class="run-name">
          <span class="swatch" style={{ background: colourOf(index) }} />
          <span>
            <b>{name}</b>
            <small>{about}</small>
          </span>
        </span>
        {overview && <RunNumbers overview={overview} />}
      </a>
    </li>
  );
}

function RunNumbers({
  overview: { status, progress, scores, latest, diagnoses },
}: {
  overview: RunOverview;
}) {
  const score = scores[0]?.name === 'reward' ? undefined : scores[0];
  const reward = scores.find(({ name }) => name === 'reward')?.after.mean;
  const last = latest.find(({ name }) => name === 'reward')?.mean;
  const headline = score ? ([score.name, score.after.mean] as const) : latestOf(latest);
  return (
    <>
      <span>
        <StatusBadge status={status} />
      </span>
      <span class="number">
        {progress.done}
        {progress.of !== undefined && <small> / {progress.of}</small>}
        <small> {progress.unit}s</small>
      </span>
      <span class="number">
        {headline ? (
          <>
            <small>{headline[0]} </small>
            {three(headline[1])}
          </>
        ) : (
          <small>–</small>
        )}
      </span>
      <span class="number">
        <small class="narrow">reward </small>
        {three(reward ?? last)}
      </span>
      <span class="fault">{diagnoses[0] ? <>▲ {sentence(diagnoses[0].fault)}</> : <small>–</small>}</span>
    </>
  );
}

function latestOf(latest: RunOverview['latest']): readonly [string, number] | undefined {
  const first = latest.find(({ name }) => name !== 'reward');
  return first && [first.name, first.mean];
}

/** Three digits after the point, so that a column is aligned. */
function three(value: number | undefined): string {
  return value === undefined ? '–' : value.toFixed(3);
}

/** `@toolenv/envs-qa/bridge-v1` → `bridge-v1`. */
function shortName(reference: unknown): string {
  return String(reference).split('/').at(-1)!;
}
