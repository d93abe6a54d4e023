/** ScoreRow: a score of a run with its confidence interval, before training and after it. */
import { headlineScore, type MetricsLine } from '@toolenv/training';
import type { RunFacts } from '../recorded/recorded-run.ts';

export interface Score {
  /** Of training; absent in an evaluation. */
  step?: number;
  mean: number;
  /** Of 95 %, over tasks. */
  interval?: [low: number, high: number];
}

export interface ScoreRow {
  /** `reward`, a component, or `pass@4`. */
  name: string;
  /** Absent in an evaluation, and in a run that was evaluated once. */
  before?: Score;
  after: Score;
}

/** The scores of the first and of the last evaluation: the score that says which episodes were right, the reward, then the others. */
export function validationScores(lines: readonly MetricsLine[]): ScoreRow[] {
  const evaluations = lines.filter(({ type }) => type === 'evaluation');
  const [first, last] = [evaluations[0], evaluations.at(-1)];
  if (!first || !last) return [];
  const names = Object.keys(last.metrics).flatMap((metric) => nameOf(metric) ?? []);
  return ordered(names).flatMap((name) => {
    const [before, after] = [scoreOf(first, name), scoreOf(last, name)];
    return after ? [{ name, after, ...(before && first !== last && { before }) }] : [];
  });
}

/** The scores that summary.json has. */
export function evaluationScores({ reward, rewardInterval, means, intervals, pass }: RunFacts): ScoreRow[] {
  const rows = new Map<string, ScoreRow>();
  const add = (name: string, mean: unknown, interval: unknown) => {
    if (typeof mean === 'number') rows.set(name, { name, after: { mean, ...withInterval(interval) } });
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
  return { step, mean, ...withInterval([metrics[`${prefix}/ci_low`], metrics[`${prefix}/ci_high`]]) };
}

function withInterval(interval: unknown): Pick<Score, 'interval'> {
  const [low, high] = Array.isArray(interval) ? interval : [];
  return Number.isFinite(low) && Number.isFinite(high) ? { interval: [low, high] } : {};
}

/** The headline first, then the reward and pass@k. */
function ordered(names: readonly string[]): string[] {
  const components = names.filter((name) => name !== 'reward' && !name.startsWith('pass@'));
  const headline = headlineScore(components);
  const rank = (name: string) =>
    name === headline ? 0 : name === 'reward' ? 1 : name.startsWith('pass@') ? 2 : 3;
  return [...names].sort((a, b) => rank(a) - rank(b));
}
