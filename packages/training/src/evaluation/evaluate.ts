/** Evaluation: the first tasks of a split, one episode each, and the numbers to report. */
import {
  type EnvHandle,
  type EpisodeRequest,
  EpisodeStatistics,
  type EpisodeSummary,
  type Policy,
  rollout,
  type Split,
  summariseEpisode,
  ToolEnvError,
  type Trajectory,
} from '@toolenv/core';
import { completeOptions } from '@toolenv/core/plugins';
import { requireParts } from '../require-parts.ts';
import { AbortWatch } from '../rollouts/abort-watch.ts';
import { type EvaluationOptions, evaluationOptions } from './evaluation-options.ts';

export interface EvaluateOptions<Task = unknown> extends Partial<EvaluationOptions> {
  env: EnvHandle<Task>;
  policy: Policy;
  /** Ends the evaluation by throwing the signal's reason. */
  signal?: AbortSignal;
  /** Called with each trajectory as it finishes, for example to write it to a file. */
  onTrajectory?(trajectory: Trajectory<Task>): void | Promise<void>;
}

export interface Evaluation {
  /** Episodes played, aborted episodes included. */
  episodes: number;
  /** Episodes that infrastructure faults ended. They enter no mean. */
  aborted: number;
  /** Mean of each reward component over the episodes that scored it; `null` if none did. */
  means: Record<string, number | null>;
  /** Mean weighted reward; `null` if no episode was scored. */
  reward: number | null;
  /** Episodes by how they ended: `terminated:answered`, `truncated:max_turns`. */
  outcomes: Record<string, number>;
  /** Mean number of tool calls in an episode, mistaken calls included. */
  toolCalls: number;
  /** Mean number of the policy's turns in an episode. */
  turns: number;
  /** Tokens that the policy generated, in aborted episodes too. */
  tokens: number;
  /** Wall-clock time. */
  seconds: number;
}

/**
 * Plays one episode of each of a split's first tasks and summarises: `evaluate({ env, policy })`. Everything else has a
 * default in {@link evaluationOptions}. Throws as {@link rollout} does.
 * @throws ToolEnvError `usage.run` without an environment or a policy, `usage.unknown_option`, `usage.bad_option`,
 *   `usage.evaluate` if the split has no tasks; `infrastructure.too_many_aborted` beyond `maxAborted`.
 */
export async function evaluate<Task>(options: EvaluateOptions<Task>): Promise<Evaluation> {
  requireParts('evaluate', options);
  const { env, policy, signal, onTrajectory, ...given } = options;
  const complete = completeOptions(evaluationOptions, given, 'evaluate') as unknown as EvaluationOptions;
  const { split, count, concurrency, deadline, seed, retries, onBug, maxAborted, ...sampling } = complete;
  const length = Math.min(count, env.tasks[split].length);
  if (length === 0) {
    throw new ToolEnvError('usage.evaluate', `evaluate: split "${split}" has no tasks: give another split.`);
  }
  const start = performance.now();
  const summaries: EpisodeSummary[] = [];
  const watch = new AbortWatch(maxAborted);
  const plan = {
    env,
    policy,
    episodes: oneEach(env, split, length),
    concurrency,
    sampling,
    seed,
    deadline,
    retries,
    onBug,
    signal,
  };
  for await (const trajectory of rollout(plan)) {
    summaries.push(summariseEpisode(trajectory));
    await onTrajectory?.(trajectory);
    watch.add(trajectory.outcome);
  }
  // In the order of the tasks, so that rounding does not depend on which episode finished first.
  summaries.sort((a, b) => a.index - b.index);
  const statistics = new EpisodeStatistics();
  for (const summary of summaries) statistics.add(summary);
  const { episodes, reward, rewards, outcomes, calls, turns } = statistics;
  const components = Object.keys(summaries[0]!.rewards);
  return {
    episodes: summaries.length,
    aborted: summaries.length - episodes,
    means: Object.fromEntries(components.map((name) => [name, rewards[name] ?? null])),
    reward,
    outcomes,
    toolCalls: calls ?? 0,
    turns: turns ?? 0,
    tokens: statistics.generatedTokens,
    seconds: (performance.now() - start) / 1000,
  };
}

function* oneEach<Task>(env: EnvHandle<Task>, split: Split, length: number): Generator<EpisodeRequest<Task>> {
  for (let i = 0; i < length; i++) yield { task: env.tasks[split].get(i), group: i, sample: 0 };
}
