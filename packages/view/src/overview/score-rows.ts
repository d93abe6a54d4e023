/** ScoreRow: a score of a run with its confidence interval, before training and after it. */
import type { MetricsLine } from '@toolenv/training';
import { abortShares, independentDifference, primaryMetric } from '@toolenv/training/runs';
import type { RunFacts } from '../recorded/recorded-run.ts';

export interface Score {
  /** Of training; absent in an evaluation. */
  step?: number;
  mean: number;
  /** Of 95 %, over tasks. */
  interval?: [low: number, high: number];
  /** Shares of the episodes that enter no mean, by the code of the fault that ended them. Absent if there are none. */
  aborted?: Record<string, number>;
}

/** From before to after. */
export interface ScoreChange {
  mean: number;
  /** Whether chance may explain it: its interval holds 0, or is not known. */
  isNoise: boolean;
}

export interface ScoreRow {
  /** `reward`, a component, or `pass@4`. */
  name: string;
  /** Absent in an evaluation, and in a run that was evaluated once. */
  before?: Score;
  after: Score;
  /** Absent without `before`. */
  change?: ScoreChange;
}

/** The scores of the first and of the last evaluation: the score that says which episodes were right, the reward, then the others. */
export function validationScores(lines: readonly MetricsLine[]): ScoreRow[] {
  const evaluations = lines.filter(({ type }) => type === 'evaluation');
  const [first, last] = [evaluations[0], evaluations.at(-1)];
  if (!first || !last) return [];
  const names = Object.keys(last.metrics).flatMap((metric) => nameOf(metric) ?? []);
  return ordered(names).flatMap((name) => {
    const [before, after] = [scoreOf(first, name), scoreOf(last, name)];
    if (!after) return [];
    return before && first !== last
      ? [{ name, before, after, change: changeOf(before, after) }]
      : [{ name, after }];
  });
}

function changeOf(before: Score, after: Score): ScoreChange {
  const mean = after.mean - before.mean;
  if (!before.interval || !after.interval) return { mean, isNoise: true };
  const { interval } = before;
  const [low, high] = independentDifference(
    { mean: before.mean, interval },
    { ...after, interval: after.interval },
  );
  return { mean, isNoise: low <= 0 && high >= 0 };
}

/** The scores that summary.json has. */
export function evaluationScores(facts: RunFacts): ScoreRow[] {
  const { reward, rewardInterval, means, intervals, pass } = facts;
  const aborted = withAborted(Object(facts.faults), Number(facts.episodes));
  const rows = new Map<string, ScoreRow>();
  const add = (name: string, mean: unknown, interval: unknown) => {
    if (typeof mean === 'number')
      rows.set(name, { name, after: { mean, ...withInterval(interval), ...aborted } });
  };
  add('reward', reward, rewardInterval);
  for (const [name, mean] of Object.entries(Object(means)))
    add(name, mean, (Object(intervals) as Record<string, unknown>)[name]);
  for (const [k, estimate] of Object.entries(Object(Object(pass).at))) {
    const { mean, interval } = Object(estimate);
    add(`pass@${k}`, mean, interval);
  }
  return ordered([...rows.keys()]).map((name) => rows.get(name)!);
}

function nameOf(metric: string): string | undefined {
  if (metric === 'reward' || /^pass@\d+$/.test(metric)) return metric;
  return /^rewards\/([^/]+)\/mean$/.exec(metric)?.[1];
}

function scoreOf({ step, metrics }: MetricsLine, name: string): Score | undefined {
  const isComponent = metrics[name] === undefined || nameOf(name) === undefined;
  const [metric, prefix] = isComponent ? [`rewards/${name}/mean`, `rewards/${name}`] : [name, name];
  const mean = metrics[metric];
  if (typeof mean !== 'number') return undefined;
  const interval = withInterval([metrics[`${prefix}/ci_low`], metrics[`${prefix}/ci_high`]]);
  return { step, mean, ...interval, ...withAborted(abortShares(metrics), 1) };
}

/** @param faults Counts or shares by code. */
function withAborted(faults: Readonly<Record<string, unknown>>, episodes: number): Pick<Score, 'aborted'> {
  const shares = Object.entries(faults).flatMap(([code, count]) =>
    typeof count === 'number' && count > 0 && episodes > 0 ? [[code, count / episodes] as const] : [],
  );
  return shares.length > 0 ? { aborted: Object.fromEntries(shares) } : {};
}

function withInterval(interval: unknown): Pick<Score, 'interval'> {
  const [low, high] = Array.isArray(interval) ? interval : [];
  return Number.isFinite(low) && Number.isFinite(high) ? { interval: [low, high] } : {};
}

/** The headline first, then the reward and pass@k. */
function ordered(names: readonly string[]): string[] {
  const components = names.filter((name) => name !== 'reward' && !name.startsWith('pass@'));
  const headline = primaryMetric(components);
  const rank = (name: string) =>
    name === headline ? 0 : name === 'reward' ? 1 : name.startsWith('pass@') ? 2 : 3;
  return [...names].sort((a, b) => rank(a) - rank(b));
}
