/** Evaluation: the first tasks of a split, some episodes of each, and the numbers to report. */
import {
  type CallProgress,
  type EnvHandle,
  type EpisodeRequest,
  EpisodeStatistics,
  type EpisodeSummary,
  type ModelUsage,
  type Policy,
  type RewardComponent,
  type RewardSpec,
  rollout,
  summariseEpisode,
  type TaskSet,
  ToolEnvError,
  type Trajectory,
  type TurnUsage,
} from '@toolenv/core';
import { completeOptions } from '@toolenv/core/plugins';
import { primaryMetric } from '../reports/primary-metric.ts';
import { AbortWatch } from '../rollouts/abort-watch.ts';
import { mean } from '../rows/averages.ts';
import { type EvaluationOptions, evaluationOptions } from '../trainer/evaluation-options.ts';
import { requireParts } from '../trainer/require-parts.ts';
import { confidenceInterval, type Estimate, type Interval } from './confidence-interval.ts';
import { type EvaluatedTask, EvaluatedTasks, taskScores } from './evaluated-task.ts';

export interface EvaluateOptions<Task = unknown> extends Partial<EvaluationOptions> {
  env: EnvHandle<Task>;
  policy: Policy;
  /**
   * Episodes that were played before, with the same environment, policy and options: they count, and are not played again.
   * Aborted episodes and episodes beyond `count` or `samples` are left out.
   */
  finished?: Iterable<Trajectory<Task>> | AsyncIterable<Trajectory<Task>>;
  /** Ends the evaluation by throwing the signal's reason. */
  signal?: AbortSignal;
  /** Called with each trajectory that is played, as it finishes, for example to write it to a file. */
  onTrajectory?(trajectory: Trajectory<Task>): void | Promise<void>;
  /** Called with what tools say of the progress of their calls. */
  onProgress?(report: CallProgress): void;
}

export interface Evaluation {
  /** Episodes played, aborted episodes included. */
  episodes: number;
  /** Episodes that infrastructure faults ended. They enter no mean. */
  aborted: number;
  /** Episodes that ended and that nothing scored: every reward that weighs is `null`. They enter no mean of the reward. Absent if there are none. */
  unscored?: number | undefined;
  /** Aborted episodes by the code of their fault, such as `infrastructure.timeout`. Absent if there are none. */
  faults?: Record<string, number> | undefined;
  /** Aborted episodes by their cause, the most frequent first: `infrastructure.tool_failed: Tool "f" failed: …`. Absent if there are none. */
  causes?: Record<string, number> | undefined;
  /** Mean of each reward component over the episodes that scored it; `null` if none did. */
  means: Record<string, number | null>;
  /** Mean weighted reward; `null` if no episode was scored. */
  reward: number | null;
  /** Confidence interval of each mean, over tasks; `null` where fewer than two tasks were scored. */
  intervals: Record<string, Interval | null>;
  /** Confidence interval of the mean weighted reward. */
  rewardInterval: Interval | null;
  /** Episodes of each task. The means over them are avg@samples. */
  samples: number;
  /** The score that pass@k is about, and pass@k by k. Absent with one episode of each task. */
  pass?: { score: string; at: Record<number, Estimate> } | undefined;
  /** Episodes by how they ended: `terminated:answered`, `truncated:max_turns`. */
  outcomes: Record<string, number>;
  /** Mean number of tool calls in an episode, mistaken calls included. */
  toolCalls: number;
  /** Mean number of the policy's turns in an episode. */
  turns: number;
  /** Tokens that the policy generated, in aborted episodes too. */
  tokens: number;
  /** What tools have asked of models, such as a judge; absent if nothing. */
  toolUsage?: ModelUsage;
  /** What the turns of all episodes have asked of a model on a server, those that were played before included; absent if nothing. */
  turnUsage?: TurnUsage;
  /** Wall-clock time. */
  seconds: number;
  /** The tasks that were played, in the order of the split. */
  tasks: EvaluatedTask[];
}

/**
 * Plays `samples` episodes of each of a split's first tasks and summarises: `evaluate({ env, policy })`. Everything else has a
 * default in {@link evaluationOptions}. Throws as {@link rollout} does.
 * @throws ToolEnvError `usage.run` without an environment or a policy, `usage.unknown_option`, `usage.bad_option`,
 *   `usage.evaluate` if the split has no tasks; `infrastructure.too_many_aborted` beyond `maxAborted`.
 */
export async function evaluate<Task>(options: EvaluateOptions<Task>): Promise<Evaluation> {
  requireParts('evaluate', options);
  const { env, policy, finished = [], signal, onTrajectory, onProgress, ...given } = options;
  const complete = completeOptions(evaluationOptions, given, 'evaluate') as unknown as EvaluationOptions;
  const { split, count, samples, passScore, ...rest } = complete;
  const { concurrency, deadline, onDeadline, seed, retries, onBug, onImages, maxAborted, ...sampling } = rest;
  const length = Math.min(count, await env.tasks[split].length);
  if (length === 0) {
    throw new ToolEnvError('usage.evaluate', `evaluate: split "${split}" has no tasks: give another split.`);
  }
  const start = performance.now();
  const summaries: EpisodeSummary[] = [];
  let spec: RewardSpec = {};
  const watch = new AbortWatch(maxAborted);
  const tasks = new EvaluatedTasks(samples);
  const add = (trajectory: Trajectory<Task>) => {
    summaries.push(summariseEpisode(trajectory));
    tasks.add(trajectory);
    spec = trajectory.rewardSpec;
  };
  const known = new Set<number>();
  for await (const { group, sample, ...rest } of finished) {
    const index = group * samples + sample;
    const isWanted = group < length && sample < samples && !known.has(index);
    if (!isWanted || rest.outcome.kind === 'aborted') continue;
    known.add(index);
    add({ ...rest, group, sample, index });
  }
  const episodes = episodesOf(env.tasks[split], { length, samples, known });
  const bounds = { concurrency, deadline, onDeadline, retries, onBug, onImages, signal };
  for await (const played of rollout({ env, policy, episodes, sampling, seed, ...bounds, onProgress })) {
    const trajectory = { ...played, index: played.group * samples + played.sample };
    add(trajectory);
    await onTrajectory?.(trajectory);
    watch.add(trajectory.outcome);
  }
  summaries.sort((a, b) => a.index - b.index);
  const seconds = (performance.now() - start) / 1000;
  const summary = summarise(summaries, spec, { samples, passScore });
  return { ...summary, seconds, tasks: tasks.scored(summaries, spec) };
}

/** @param summaries In the order of the tasks, so that rounding does not depend on which episode finished first. */
function summarise(
  summaries: readonly EpisodeSummary[],
  spec: RewardSpec,
  { samples, passScore }: Pick<EvaluationOptions, 'samples' | 'passScore'>,
): Omit<Evaluation, 'seconds' | 'tasks'> {
  const statistics = new EpisodeStatistics();
  for (const summary of summaries) statistics.add(summary);
  const { episodes, reward, rewards, outcomes, calls, turns } = statistics;
  const components = Object.keys(summaries[0]!.rewards);
  const scoresOf = (name: string) => taskScores(summaries, samples, ({ rewards: own }) => own[name]);
  return {
    episodes: summaries.length,
    aborted: summaries.length - episodes,
    ...(statistics.unscored > 0 && { unscored: statistics.unscored }),
    ...(summaries.length > episodes && { faults: statistics.faults, causes: statistics.causes }),
    means: Object.fromEntries(components.map((name) => [name, rewards[name] ?? null])),
    reward,
    intervals: Object.fromEntries(
      components.map((name) => [name, confidenceInterval(scoresOf(name), rangeOf(spec[name]))]),
    ),
    rewardInterval: confidenceInterval(taskScores(summaries, samples, (summary) => summary.reward)),
    samples,
    ...(samples > 1 && { pass: passOf(summaries, components, { samples, passScore }) }),
    outcomes,
    toolCalls: calls ?? 0,
    turns: turns ?? 0,
    tokens: statistics.generatedTokens,
    ...(statistics.toolUsage && { toolUsage: statistics.toolUsage }),
    ...(statistics.turnUsage && { turnUsage: statistics.turnUsage }),
  };
}

/** The range of an episode's score. A process reward has its range at each step, and an episode has their sum. */
function rangeOf(component: RewardSpec[string] | undefined): RewardComponent['range'] | undefined {
  return component?.kind === 'outcome' ? component.range : undefined;
}

/** `samples` episodes of each of the first `length` tasks, task by task, without those whose numbers are known. */
export function* episodesOf<Task>(
  tasks: TaskSet<Task>,
  { length, samples, known }: { length: number; samples: number; known?: ReadonlySet<number> },
): Generator<EpisodeRequest<Task>> {
  for (let index = 0; index < length * samples; index++) {
    if (known?.has(index)) continue;
    const group = Math.floor(index / samples);
    yield { task: tasks.get(group), group, sample: index % samples };
  }
}

/** pass@k of the score that says which episodes were right. A scored episode without this score did not pass. */
function passOf(
  summaries: readonly EpisodeSummary[],
  components: readonly string[],
  { samples, passScore }: Pick<EvaluationOptions, 'samples' | 'passScore'>,
): Evaluation['pass'] {
  const score = primaryMetric(components);
  if (score === undefined) return undefined;
  const scores = taskScores(summaries, samples, ({ rewards, reward }) =>
    reward === null ? null : (rewards[score] ?? Number.NEGATIVE_INFINITY),
  );
  const passed = scores.map((task) => task.map((value) => value >= passScore));
  return { score, at: passRates(passed, samples) };
}

/** The unbiased estimate 1 − C(n − passed, k) / C(n, k) (arXiv 2107.03374, equation 1). `k` is at most `n`. */
export function passAtK(n: number, passed: number, k: number): number {
  if (n - passed < k) return 1;
  let none = 1;
  for (let i = n - passed + 1; i <= n; i++) none *= 1 - k / i;
  return 1 - none;
}

/**
 * pass@k for each power of two up to `samples`, and for `samples`. Tasks with fewer than k scored episodes are left out; a `k`
 * without any task is absent.
 * @param tasks Whether each scored episode of each task passed.
 */
export function passRates(tasks: readonly (readonly boolean[])[], samples: number): Record<number, Estimate> {
  const rates: Record<number, Estimate> = {};
  const powers = Array.from({ length: Math.floor(Math.log2(samples)) + 1 }, (_, i) => 2 ** i);
  for (const k of new Set([...powers, samples])) {
    const whole = tasks.filter(({ length }) => length >= k);
    if (whole.length === 0) continue;
    const estimates = whole.map((episodes) =>
      passAtK(episodes.length, episodes.filter((passed) => passed).length, k),
    );
    const ofTasks = estimates.map((estimate) => [estimate]);
    rates[k] = { mean: mean(estimates), interval: confidenceInterval(ofTasks, [0, 1]) };
  }
  return rates;
}
