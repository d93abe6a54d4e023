/** The overview of a run: is it done, is it better, what is wrong with it, and what did it cost. */
import type { RewardSpec } from '@toolenv/core';
import { useMemo } from 'preact/hooks';
import type { RunOverview, RunProgress } from '../../src/overview/run-overview.ts';
import type { RunHead } from '../../src/view/viewed-run.ts';
import { StatusBadge } from '../all-runs/status-badge.tsx';
import { chartData } from '../curves/chart-data.ts';
import { chartSpecs } from '../curves/chart-specs.ts';
import { Charts } from '../curves/charts.tsx';
import { useMetrics } from '../curves/use-metrics.ts';
import { plural, short, timeText, whole } from '../numbers.ts';
import { hrefOf } from '../route.ts';
import { type States, useAnswer } from '../server.ts';
import type { Theme } from '../theme.ts';
import { CostPanel } from './cost-panel.tsx';
import { DiagnosisList } from './diagnosis-list.tsx';
import { EndsPanel } from './ends-panel.tsx';
import { NewestEpisodes } from './newest-episodes.tsx';
import { NotesPanel } from './notes-panel.tsx';
import { ScoreTable } from './score-table.tsx';
import './overview.css';

interface Props {
  run: RunHead;
  overview: RunOverview | undefined;
  states: States;
  theme: Theme;
  /** The notes of the run were written. */
  onNoted(): void;
}

export function OverviewPage({ run, overview, states, theme, onNoted }: Props) {
  const { answer } = useAnswer(
    '/api/episodes',
    { run: run.name, count: 0 },
    JSON.stringify(states[run.name]?.episodes),
  );
  if (!overview) return <p class="nothing">Loading …</p>;
  const { status, progress, scores, diagnoses, cost, causes } = overview;
  const episodes = answer?.of ?? 0;
  const hasFaults = diagnoses.length > 0;
  return (
    <article class="overview">
      <header class="run-head">
        <h2>{run.name}</h2>
        <StatusBadge status={status} />
        <p class="soft">{aboutText(run)}</p>
      </header>
      <NotesPanel run={run} onWritten={onNoted} />
      {status.why && (
        <p class="problem" role="alert">
          {status.why}
        </p>
      )}
      <Facts
        progress={progress}
        seconds={cost.seconds}
        episodes={episodes}
        isRunning={status.kind === 'running'}
      />
      {run.kind === 'training' && (
        <section aria-label="Diagnoses" class={hasFaults ? 'panel' : ''}>
          {hasFaults ? (
            <>
              <h2>What is wrong</h2>
              <DiagnosisList run={run.name} diagnoses={diagnoses} hasEpisodes={episodes > 0} />
            </>
          ) : (
            <p class="healthy">
              <span aria-hidden="true">✓</span> {healthyText(progress)}
            </p>
          )}
        </section>
      )}
      <div class="panels">
        {scores.length > 0 && (
          <section class="panel wide-panel">
            <h2>{run.kind === 'training' ? 'Validation' : 'Scores'}</h2>
            <ScoreTable rows={scores} />
          </section>
        )}
        {(cost.parts.length > 0 || cost.generatedTokens !== undefined) && (
          <section class="panel">
            <h2>Cost</h2>
            <CostPanel cost={cost} />
          </section>
        )}
        {answer?.facets && episodes > 0 && (
          <section class="panel">
            <h2>Ends of the episodes</h2>
            <EndsPanel run={run.name} total={episodes} facets={answer.facets} />
            {Object.entries(causes).map(([cause, count]) => (
              <p key={cause} class="bad">
                {whole(count)} aborted: {cause}
              </p>
            ))}
          </section>
        )}
        <NewestEpisodes run={run.name} version={JSON.stringify(states[run.name]?.episodes)} />
      </div>
      {run.kind === 'training' && <FirstCharts run={run} states={states} theme={theme} />}
    </article>
  );
}

function aboutText({ facts }: RunHead): string {
  const { env, split, policy, trainer, trainerOptions, seed } = facts;
  const algorithm = trainerOptions?.algorithm;
  const trained = algorithm === undefined || algorithm === trainer ? trainer : `${trainer} (${algorithm})`;
  const parts = [env, split, policy, trained, seed === undefined ? undefined : `seed ${seed}`];
  return parts.filter((part) => part !== undefined && part !== '').join(' · ');
}

function healthyText({ done }: RunProgress): string {
  return done === 0 ? 'No step is done yet.' : `No fault found in ${plural(done, 'step')}.`;
}

interface FactsProps {
  progress: RunProgress;
  seconds: number | undefined;
  episodes: number;
  isRunning: boolean;
}

function Facts({ progress, seconds, episodes, isRunning }: FactsProps) {
  const { unit, done, of, secondsLeft, secondsPerStep, tokensPerSecond, memory } = progress;
  const share = of === undefined || of === 0 ? undefined : Math.min(1, done / of);
  return (
    <dl class="facts">
      <div>
        <dt>progress</dt>
        <dd>
          {whole(done)}
          {of === undefined ? '' : ` of ${whole(of)}`} <small>{unit}s</small>
          {share !== undefined && (
            <div
              class="progress"
              role="progressbar"
              aria-label="progress"
              aria-valuenow={Math.round(100 * share)}
            >
              <span style={{ width: `${100 * share}%` }} />
            </div>
          )}
        </dd>
      </div>
      {isRunning && (
        <div>
          <dt>time left</dt>
          <dd>{secondsLeft === undefined ? 'unknown' : timeText(secondsLeft)}</dd>
        </div>
      )}
      <div>
        <dt>time so far</dt>
        <dd>{seconds === undefined ? 'not recorded' : timeText(seconds)}</dd>
      </div>
      {secondsPerStep !== undefined && (
        <div>
          <dt>a step</dt>
          <dd>
            {timeText(secondsPerStep)}
            {tokensPerSecond !== undefined && <small> {short(tokensPerSecond)} tokens/s</small>}
          </dd>
        </div>
      )}
      {memory !== undefined && (
        <div>
          <dt>memory</dt>
          <dd>{memory.toFixed(1)} GB</dd>
        </div>
      )}
      {unit === 'step' && (
        <div>
          <dt>episodes kept</dt>
          <dd>{whole(episodes)}</dd>
        </div>
      )}
    </dl>
  );
}

function FirstCharts({ run, states, theme }: Pick<Props, 'run' | 'states' | 'theme'>) {
  const { metrics, problem } = useMetrics([run.name], states);
  const lines = metrics.get(run.name) ?? [];
  const drawn = useMemo(() => {
    const specs = chartSpecs(lines, run.facts.rewardSpec as RewardSpec | undefined);
    const first = specs.filter(({ isFirst }) => isFirst);
    return first.map((spec) => ({ spec, data: chartData(spec, [[{ name: run.name, run: 0, lines }]]) }));
  }, [lines, run]);
  if (problem) return <p class="problem">{problem}</p>;
  return (
    <section aria-label="Curves">
      <Charts charts={drawn} theme={theme} isOfRuns={false} />
      <p class="more">
        <a href={hrefOf('curves', { run: run.name })}>All curves</a>
        <a href={hrefOf('options', { run: run.name })}>Options and versions</a>
      </p>
    </section>
  );
}
