/** Scores with their confidence intervals, before training and after it. */
import type { Score, ScoreChange, ScoreRow } from '../../src/overview/score-rows.ts';
import { short } from '../numbers.ts';

export function ScoreTable({ rows }: { rows: readonly ScoreRow[] }) {
  const [first] = rows;
  const isChange = rows.some(({ before }) => before);
  return (
    <table class="scores">
      <thead>
        <tr>
          <th scope="col">score</th>
          {isChange && <th scope="col">{stepText(first?.before, 'before')}</th>}
          <th scope="col">{isChange ? stepText(first?.after, 'after') : stepText(first?.after, 'mean')}</th>
          {isChange && <th scope="col">change</th>}
          <th scope="col" class="wide">
            95 % interval
          </th>
        </tr>
      </thead>
      <tbody>
        {rows.map((row, index) => (
          <tr key={row.name}>
            <th scope="row">{row.name}</th>
            {isChange && <td>{row.before ? <Mean of={row.before} /> : '–'}</td>}
            <td>
              <Mean of={row.after} />
            </td>
            {isChange && (
              <td>
                {row.change ? <Change of={row.change} isGood={index === 0 || isReward(row.name)} /> : '–'}
              </td>
            )}
            <td class="wide">
              <Whiskers row={row} />
            </td>
          </tr>
        ))}
      </tbody>
    </table>
  );
}

function stepText(score: Score | undefined, word: string): string {
  return score?.step === undefined ? word : `${word}, step ${score.step}`;
}

export function Mean({ of: { mean, interval, aborted } }: { of: Score }) {
  return (
    <>
      <b>{mean.toFixed(3)}</b>
      {interval && (
        <small>
          {' '}
          {interval[0].toFixed(3)} to {interval[1].toFixed(3)}
        </small>
      )}
      {aborted && <small class="bad"> {abortedText(aborted)}</small>}
    </>
  );
}

/** Without the noise of floating-point numbers around 0. */
function round(value: number): number {
  return Number(value.toFixed(3));
}

/** More of it is better; more searches, for example, need not be. */
export function isReward(name: string): boolean {
  return name === 'reward' || name.startsWith('pass@');
}

/** @param isGood Whether more is better. */
function Change({ of: { mean, isNoise }, isGood }: { of: ScoreChange; isGood: boolean }) {
  const change = round(mean);
  const isUp = change > 0;
  const arrow = isNoise ? '≈ ' : isUp ? '▲ ' : '▼ ';
  return (
    <span
      class={isNoise ? 'soft' : !isGood ? '' : isUp ? 'good' : 'bad'}
      title={isNoise ? 'Chance may explain it: the interval of the difference holds 0.' : undefined}
    >
      {change === 0 ? '' : `${arrow}${isUp ? '+' : '−'}`}
      {Math.abs(change).toFixed(3)}
    </span>
  );
}

/** `6 % aborted (infrastructure.timeout)`. */
function abortedText(shares: Readonly<Record<string, number>>): string {
  const all = Object.values(shares).reduce((sum, share) => sum + share, 0);
  return `${(100 * all).toFixed(1)} % aborted (${Object.keys(shares).join(', ')})`;
}

const [width, height] = [150, 22];

/** Before is hollow and above, after is filled and below, on one scale. */
function Whiskers({ row: { name, before, after } }: { row: ScoreRow }) {
  const ends = [before, after].flatMap((score) => (score ? [score.mean, ...(score.interval ?? [])] : []));
  const [low, high] = [Math.min(0, ...ends), Math.max(1, ...ends)];
  const x = (value: number) => 5 + ((width - 10) * (value - low)) / (high - low);
  const scores = [
    { score: before, y: 7, fill: 'var(--back)' },
    { score: after, y: before ? 15 : 11, fill: 'var(--accent)' },
  ];
  return (
    <svg
      width={width}
      height={height}
      viewBox={`0 0 ${width} ${height}`}
      role="img"
      aria-label={`${name} from ${short(low)} to ${short(high)}`}
    >
      <line x1={x(low)} x2={x(high)} y1={height - 1} y2={height - 1} stroke="var(--line)" />
      {scores.map(
        ({ score, y, fill }) =>
          score && (
            <g key={y} stroke={fill === 'var(--back)' ? 'var(--text-soft)' : 'var(--accent)'}>
              {score.interval && (
                <line x1={x(score.interval[0])} x2={x(score.interval[1])} y1={y} y2={y} stroke-width="2" />
              )}
              <circle cx={x(score.mean)} cy={y} r="3.5" fill={fill} stroke-width="1.5" />
            </g>
          ),
      )}
    </svg>
  );
}
