/** RunOverview: what a person asks first of a run: is it done, is it better, what did it cost, and what is wrong with it. */
import type { RewardSpec } from '@toolenv/core';
import { type Diagnosis, diagnose, diagnosisRules, type MetricsLine } from '@toolenv/training';
import { headlineMetric, type RunStatus, readStatus } from '@toolenv/training/runs';
import type { RecordedRun } from '../recorded/recorded-run.ts';
import { type RunCost, trainingCost } from './run-cost.ts';
import { evaluationScores, type ScoreRow, validationScores } from './score-rows.ts';

/** A diagnosis, with what is wrong in a few words. */
export interface NamedDiagnosis extends Diagnosis {
  fault: string;
}

export interface RunProgress {
  unit: 'step' | 'episode';
  done: number;
  /** Absent if nothing says how many there will be. */
  of?: number;
  /** Of a run that goes on: by the mean time of its last ten steps. */
  secondsLeft?: number;
  /** Of the last ten steps; absent if they recorded none. */
  secondsPerStep?: number;
  tokensPerSecond?: number;
  /** Gigabytes of the process after the last step. */
  memory?: number;
}

export interface RunOverview {
  status: RunStatus;
  progress: RunProgress;
  scores: ScoreRow[];
  /** Of the last step: the score that says which episodes were right, and the reward; else the loss. */
  latest: { name: string; mean: number }[];
  /** The score of the training episodes, or else the loss, from the first step to the last: at most 32 means of as many steps. */
  curve: number[];
  cost: RunCost;
  /** Causes first. */
  diagnoses: NamedDiagnosis[];
  /** Episodes that infrastructure faults ended, by their cause. */
  causes: Record<string, number>;
}

/** What has been read of a run. */
export interface ReadRun extends Pick<RecordedRun, 'kind' | 'folder' | 'facts'> {
  metrics: readonly MetricsLine[];
  /** Episodes of its file. */
  episodes: number;
}

/** Damaged records count as absent. */
export async function overviewOf(run: ReadRun): Promise<RunOverview> {
  const progress = progressOf(run);
  const { folder, kind, facts, metrics } = run;
  const status = await statusOf(folder, progress);
  if (status.kind !== 'running') delete progress.secondsLeft;
  const isTraining = kind === 'training';
  const records = {
    metrics,
    options: facts.trainerOptions,
    rewardSpec: facts.rewardSpec as RewardSpec | undefined,
  };
  const found = isTraining ? diagnose(records) : [];
  return {
    status,
    progress,
    scores: isTraining ? validationScores(metrics) : evaluationScores(facts),
    latest: latestOf(metrics),
    curve: curveOf(metrics),
    cost: isTraining ? trainingCost(metrics) : evaluationCost(facts),
    diagnoses: found.map((each) => ({ ...each, fault: diagnosisRules[each.name].fault })),
    causes: Object(facts.causes),
  };
}

/** Of the run as it is now. */
export async function statusOf(folder: string | undefined, { of, done }: RunProgress): Promise<RunStatus> {
  return folder === undefined ? { kind: 'done' } : readStatus(folder, of === undefined || done >= of);
}

function latestOf(lines: readonly MetricsLine[]): RunOverview['latest'] {
  const rollout = lines.findLast(({ type }) => type === 'rollout')?.metrics;
  const loss = lines.findLast(({ type }) => type === 'update')?.metrics.loss;
  if (!rollout) return loss === undefined ? [] : [{ name: 'loss', mean: loss }];
  const [name, mean] = headlineMetric(rollout) ?? [];
  const headline = name === undefined || mean === undefined ? [] : [{ name, mean }];
  return rollout.reward === undefined ? headline : [...headline, { name: 'reward', mean: rollout.reward }];
}

/** Points of a small curve. */
const curvePoints = 32;

function curveOf(lines: readonly MetricsLine[]): number[] {
  const rollouts = lines.filter(({ type }) => type === 'rollout');
  const name = rollouts[0] && headlineMetric(rollouts[0].metrics)?.[0];
  const metric = name === undefined ? 'reward' : `rewards/${name}/mean`;
  const values =
    rollouts.length > 0
      ? rollouts.map(({ metrics }) => metrics[metric] ?? metrics.reward)
      : lines.map(({ type, metrics }) => (type === 'update' ? metrics.loss : undefined));
  const known = values.filter((value) => value !== undefined && Number.isFinite(value)) as number[];
  const count = Math.min(curvePoints, known.length);
  return Array.from({ length: count }, (_, point) => {
    const part = known.slice(
      Math.floor((point * known.length) / count),
      Math.floor(((point + 1) * known.length) / count),
    );
    return part.reduce((sum, value) => sum + value, 0) / part.length;
  });
}

/** Steps over which the time of the next is estimated. */
const recentSteps = 10;

function progressOf({ kind, facts, metrics, episodes }: ReadRun): RunProgress {
  if (kind !== 'training') {
    const { count, samples } = facts as { count?: unknown; samples?: unknown };
    const played = typeof facts.episodes === 'number' ? facts.episodes : undefined;
    const planned =
      typeof count === 'number' ? count * (typeof samples === 'number' ? samples : 1) : undefined;
    return { unit: 'episode', done: Math.max(episodes, played ?? 0), of: played ?? planned };
  }
  const done = metrics.reduce((most, { type, step }) => (type === 'update' ? Math.max(most, step) : most), 0);
  // 0: the data of the trainer say how many steps there are.
  const steps = facts.trainerOptions?.steps;
  const of = typeof steps === 'number' && steps > 0 ? steps : undefined;
  const recent = (name: string) =>
    metrics
      .flatMap(({ metrics: { [name]: value } }) => (Number.isFinite(value) ? [value!] : []))
      .slice(-recentSteps);
  const times = recent('step_time');
  const rates = recent('tokens_per_second/generation');
  const memory = recent('memory/process_gb').at(-1);
  const pace = {
    ...(times.length > 0 && { secondsPerStep: meanOf(times) }),
    ...(rates.length > 0 && { tokensPerSecond: meanOf(rates) }),
    ...(memory !== undefined && { memory }),
  };
  const secondsLeft =
    of !== undefined && times.length > 0 ? Math.max(0, of - done) * meanOf(times) : undefined;
  return { unit: 'step', done, of, secondsLeft, ...pace };
}

function meanOf(values: readonly number[]): number {
  return values.reduce((sum, value) => sum + value, 0) / values.length;
}

function evaluationCost({ seconds, tokens }: RecordedRun['facts']): RunCost {
  const number = (value: unknown) => (typeof value === 'number' ? value : undefined);
  return { parts: [], seconds: number(seconds), generatedTokens: number(tokens) };
}
