/** The scores of several runs beside each other: differences from one of them, what they cost, and kinds of tasks. */

import type { Estimate } from '@toolenv/training';
import type { JSX } from 'preact';
import { type ComparedRun, type CostName, costNames } from '../../src/scores/compare-scores.ts';
import type { RunHead } from '../../src/view/viewed-run.ts';
import { short, whole } from '../numbers.ts';
import { isReward, Mean } from '../overview/score-table.tsx';
import { go, hrefOf } from '../route.ts';
import { colourOf } from '../run-colours.ts';
import { type States, useAnswer } from '../server.ts';
import { CostChart } from './cost-chart.tsx';
import { KindTable } from './kind-table.tsx';
import './scores.css';

interface Props {
  /** Those that are shown. */
  runs: readonly RunHead[];
  /** In the order that gives the colours. */
  all: readonly RunHead[];
  states: States;
  query: Readonly<Record<string, string>>;
}

/** Columns that can still be read beside each other. */
const maxRuns = 8;

export function ScoresPage({ runs, all, states, query }: Props) {
  const evaluated = runs.filter(({ kind }) => kind !== 'training');
  // Whoever chose no runs compares evaluations.
  const chosen = query.runs === undefined && evaluated.length > 1 ? evaluated : runs;
  const names = chosen.slice(0, maxRuns).map(({ name }) => name);
  const first = names.find((name) => name === query.first) ?? names[0];
  const ordered = names.length === 0 ? [] : [first!, ...names.filter((name) => name !== first)];
  const version = ordered.map((name) => JSON.stringify(states[name])).join();
  const { answer, problem } = useAnswer('/api/scores', { runs: ordered.join(',') }, version);
  const change = (changes: object) => go(hrefOf('scores', { ...query, ...changes }), { isStep: false });
  const colour = (name: string) => colourOf(all.findIndex((run) => run.name === name));
  if (ordered.length === 0) return <p class="nothing">Choose runs above.</p>;
  if (problem) return <p class="problem">{problem}</p>;
  if (!answer) return <p class="nothing">Loading …</p>;
  const { runs: compared, kinds, score } = answer;
  const costs = (Object.keys(costNames) as CostName[]).filter(
    (name) => compared.filter((run) => run.costs[name] !== undefined).length > 1,
  );
  const cost = costs.find((name) => name === query.cost) ?? costs[0];
  const evaluations = compared.filter((run) => evaluated.some(({ name }) => name === run.name));
  return (
    <section class="compared-scores" aria-label="Scores">
      <div class="bar">
        <label>
          differences from
          <select value={first} onChange={({ currentTarget }) => change({ first: currentTarget.value })}>
            {names.map((name) => (
              <option key={name}>{name}</option>
            ))}
          </select>
        </label>
        {chosen.length > maxRuns && (
          <span class="soft">
            the first {maxRuns} of {whole(chosen.length)} runs
          </span>
        )}
      </div>
      {compared.map(({ name, problem }) =>
        problem === undefined ? null : (
          <p key={name} class="problem">
            {name} cannot be compared with {first} task by task: {problem}
          </p>
        ),
      )}
      <ScoresTable runs={compared} score={score} colour={colour} />
      {evaluations.length > 1 && (
        <p class="more">
          Tasks that flipped:{' '}
          {evaluations.slice(1).map(({ name }) => (
            <a key={name} href={hrefOf('tasks', { run: evaluations[0]!.name, with: name })}>
              {evaluations[0]!.name} and {name}
            </a>
          ))}
        </p>
      )}
      {cost && (
        <section aria-label="Cost">
          <label class="inline">
            by cost
            <select value={cost} onChange={({ currentTarget }) => change({ cost: currentTarget.value })}>
              {costs.map((name) => (
                <option key={name} value={name}>
                  {costNames[name]}
                </option>
              ))}
            </select>
          </label>
          <CostChart runs={compared} score={score} cost={cost} colourOf={colour} />
        </section>
      )}
      <KindTable
        score={score}
        kinds={kinds}
        runs={ordered}
        field={query.field}
        onChoose={(field) => change({ field })}
      />
    </section>
  );
}

interface ScoresTableProps {
  runs: readonly ComparedRun[];
  /** That says which episodes were right. */
  score: string;
  colour(name: string): string;
}

function ScoresTable({ runs, score, colour }: ScoresTableProps) {
  const scores = [...new Set(runs.flatMap((run) => run.scores.map(({ name }) => name)))];
  const costs = (Object.keys(costNames) as CostName[]).filter((name) =>
    runs.some((run) => run.costs[name] !== undefined),
  );
  const row = (name: string, cell: (run: ComparedRun) => JSX.Element | string) => (
    <tr key={name}>
      <th scope="row">{name}</th>
      {runs.map((run) => (
        <td key={run.name}>{cell(run)}</td>
      ))}
    </tr>
  );
  return (
    <div class="scroll" tabIndex={0} role="region" aria-label="Scores of the runs">
      <table class="scores">
        <thead>
          <tr>
            <th scope="col">score</th>
            {runs.map(({ name }) => (
              <th key={name} scope="col">
                <span class="swatch" style={{ background: colour(name) }} />{' '}
                <a href={hrefOf('overview', { run: name })}>{name}</a>
              </th>
            ))}
          </tr>
        </thead>
        <tbody>
          {scores.map((name) =>
            row(name, (run) => (
              <ScoreCell run={run} score={name} isGood={name === score || isReward(name)} />
            )),
          )}
          {row('episodes', ({ episodes }) => whole(episodes))}
          {row('left out', ({ aborted }) => (aborted === 0 ? 'none' : whole(aborted)))}
          {costs.map((name) => row(costNames[name], ({ costs }) => short(costs[name])))}
        </tbody>
      </table>
    </div>
  );
}

interface ScoreCellProps {
  run: ComparedRun;
  score: string;
  /** Whether more is better. A component may count searches. */
  isGood: boolean;
}

function ScoreCell({ run: { scores, differences }, score, isGood }: ScoreCellProps) {
  const found = scores.find(({ name }) => name === score);
  if (!found) return <>–</>;
  const difference = differences?.[score];
  return (
    <>
      <Mean of={found.after} />
      {difference && <Difference of={difference} isGood={isGood} />}
    </>
  );
}

/** Of runs on the same tasks. */
function Difference({ of: { mean, interval }, isGood }: { of: Estimate; isGood: boolean }) {
  const isNoise = interval === null || (interval[0] <= 0 && interval[1] >= 0);
  const sign = isNoise ? '≈' : mean > 0 ? '▲' : '▼';
  const ends = interval && ` (${interval.map(signed).join(' to ')})`;
  return (
    <span
      class={`difference ${isNoise ? 'soft' : !isGood ? '' : mean > 0 ? 'good' : 'bad'}`}
      title={isNoise ? 'Chance may explain the difference.' : undefined}
    >
      {sign} {signed(mean)}
      {ends}
    </span>
  );
}

function signed(value: number): string {
  return `${value > 0 ? '+' : value < 0 ? '−' : ''}${Math.abs(value).toFixed(3)}`;
}
