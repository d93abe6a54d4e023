/** comparisonVerdict: whether an evaluation keeps up with a baseline, or beats it, by more than chance. */
import { ToolEnvError } from '@toolenv/core';
import { type Comparison, compareEvaluations, type Scored, scoredMetric } from './compare-evaluations.ts';
import { leastTasks } from './paired-difference.ts';
import { scoreText, taskLines, type Verdict } from './verdict.ts';

/** How an evaluation is compared with its baseline. */
export interface ComparisonBounds {
  /** A reward component, or `reward`. Default: the component that says which episodes were right, such as `em`, else the first. */
  metric?: string;
  /** Difference that does not matter: a loss that is allowed, or a gain that is not enough. Default 0. */
  margin?: number;
  /** Share of the intervals that hold the true difference, at most .999. Default .99. */
  confidence?: number;
}

/** Rounding error of differences. */
const tolerance = 1e-9;

/**
 * Compares the scores with a baseline, paired by task, by the interval of their difference.
 *
 * - `keepsUp` fails only if the whole interval is below −margin. An agent that plays as in the baseline fails in at most
 *   (1 − confidence) / 2 of its evaluations: 0.5 % by default.
 * - `beats` passes only if the whole interval is above the margin.
 * @throws ToolEnvError As {@link compareEvaluations} does; `usage.too_few_tasks` if no result could decide, `usage.bad_option`.
 */
export function comparisonVerdict(
  kind: 'keepsUp' | 'beats',
  evaluation: Scored,
  baseline: Scored,
  { metric: named, margin = 0, confidence = 0.99 }: ComparisonBounds = {},
): Verdict {
  if (!(margin >= 0 && confidence > 0 && confidence <= 0.999)) {
    const message = `The margin is ${margin} and the confidence ${confidence}: give a margin from 0 up, and a confidence above 0, at most 0.999.`;
    throw new ToolEnvError('usage.bad_option', message);
  }
  const metric = scoredMetric(named, Object.keys(evaluation.tasks[0]?.scores ?? {}));
  const compared = compareEvaluations(evaluation, baseline, metric, confidence);
  if (!compared?.interval) throw tooFew(compared?.count ?? 0, metric, confidence);
  const [low, high] = compared.interval;
  const passed = kind === 'beats' ? low > margin + tolerance : high >= -margin - tolerance;
  const line = `${differenceText(metric, compared, confidence)}. ${wanted(kind, margin)}.`;
  if (passed) return { passed, message: line };
  const worse = compared.tasks.filter(({ before, after }) => after < before - tolerance);
  worse.sort((a, b) => a.after - a.before - (b.after - b.before));
  const head = worse.length > 0 ? [`${worse.length} of ${compared.count} tasks scored less:`] : [];
  const fall = ({ before, after }: Comparison['tasks'][number]) =>
    `${scoreText(before)} → ${scoreText(after)}`;
  return { passed, message: [line, ...head, ...taskLines(worse, fall)].join('\n') };
}

function differenceText(
  metric: string,
  { mean, interval, count, tasks }: Comparison,
  confidence: number,
): string {
  const before = tasks.reduce((sum, task) => sum + task.before, 0) / count;
  const ends = interval!.map(signed).join(' to ');
  const share = Number((100 * confidence).toFixed(6));
  const means = `${metric} is ${scoreText(before + mean)} over ${count} tasks, and that of the baseline is ${scoreText(before)}`;
  return `${means}: a difference of ${signed(mean)} (${share} % interval ${ends})`;
}

function signed(difference: number): string {
  return `${difference < 0 ? '−' : '+'}${scoreText(Math.abs(difference))}`;
}

function wanted(kind: 'keepsUp' | 'beats', margin: number): string {
  if (kind === 'beats') return `The whole interval must be above ${margin}`;
  return `The whole interval must not be below ${margin === 0 ? 0 : `−${margin}`}`;
}

function tooFew(count: number, metric: string, confidence: number): ToolEnvError {
  const why = `${count} tasks have a score for ${metric} in both evaluations, too few for a confidence of ${confidence}`;
  const message = `${why}: play at least ${leastTasks(confidence)}.`;
  return new ToolEnvError('usage.too_few_tasks', message);
}
