/** Evaluation: the first tasks of a split, one episode each, and the numbers to report. */
import {
  type EnvHandle,
  type EpisodeRequest,
  EpisodeStatistics,
  type EpisodeSummary,
  type Policy,
  type RolloutOptions,
  rollout,
  type Split,
  summariseEpisode,
  ToolEnvError,
  type Trajectory,
} from '@toolenv/core';

export interface EvaluateOptions<Task = unknown>
  extends Pick<
    RolloutOptions<Task>,
    'concurrency' | 'sampling' | 'seed' | 'deadline' | 'signal' | 'retries'
  > {
  env: EnvHandle<Task>;
  split: Split;
  policy: Policy;
  /** Number of tasks, from the split's first on. Default: all of them. */
  count?: number;
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
 * Plays one episode of each task and summarises. Throws as {@link rollout} does.
 * @throws ToolEnvError `usage.evaluate` if the split is empty or `count` is below 1.
 */
export async function evaluate<Task>(options: EvaluateOptions<Task>): Promise<Evaluation> {
  const { env, split, count = Number.POSITIVE_INFINITY } = options;
  const length = Math.min(count, env.tasks[split].length);
  if (!(length >= 1)) {
    const message = `evaluate: no tasks: count is ${count} and split "${split}" has ${env.tasks[split].length}.`;
    throw new ToolEnvError('usage.evaluate', message);
  }
  const start = performance.now();
  const summaries: EpisodeSummary[] = [];
  for await (const trajectory of rollout({ ...options, episodes: oneEach(env, split, length) })) {
    summaries.push(summariseEpisode(trajectory));
    await options.onTrajectory?.(trajectory);
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
