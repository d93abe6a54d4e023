/** Evaluation: the first tasks of a split, one episode each, and the numbers to report. */
import type { EnvHandle, Policy, Rewards, Split, Trajectory } from '@toolenv/core';
import { type EpisodeRequest, type RolloutOptions, rollout, ToolEnvError } from '@toolenv/core';

export interface EvaluateOptions<Task = unknown>
  extends Pick<
    RolloutOptions<Task>,
    'concurrency' | 'sampling' | 'seed' | 'deadline' | 'signal' | 'retries'
  > {
  env: EnvHandle<Task>;
  split: Split;
  policy: Policy;
  /** Tasks at most, from the split's first on. Default: all of them. */
  count?: number;
  /** Called with each trajectory as it finishes: the place to write it down. */
  onTrajectory?(trajectory: Trajectory<Task>): void | Promise<void>;
}

export interface Evaluation {
  /** Episodes played, aborted ones included. */
  episodes: number;
  /** Episodes that infrastructure faults ended; nothing below counts them. */
  aborted: number;
  /** Mean of each reward component over the episodes that scored it; `null` if none did. */
  means: Record<string, number | null>;
  /** Mean weighted reward; `null` if no episode was scored. */
  reward: number | null;
  /** Episodes by how they ended: `terminated:answered`, `truncated:max_turns`. */
  outcomes: Record<string, number>;
  /** Mean number of tool calls in an episode, mistaken ones included. */
  toolCalls: number;
  /** Mean number of the policy's turns in an episode. */
  turns: number;
  /** Tokens that the policy generated, in all. */
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
  const results: Result[] = [];
  for await (const trajectory of rollout({ ...options, episodes: oneEach(env, split, length) })) {
    results.push(resultOf(trajectory));
    await options.onTrajectory?.(trajectory);
  }
  // In the order of the tasks, so that rounding does not depend on which episode finished first.
  results.sort((a, b) => a.index - b.index);
  return { ...summarise(results), seconds: (performance.now() - start) / 1000 };
}

function* oneEach<Task>(env: EnvHandle<Task>, split: Split, length: number): Generator<EpisodeRequest<Task>> {
  for (let i = 0; i < length; i++) yield { task: env.tasks[split].at(i), group: i, sample: 0 };
}

/** What the summary needs of a trajectory, so that none has to be kept. */
interface Result {
  index: number;
  aborted: boolean;
  end: string;
  rewards: Rewards;
  reward: number;
  toolCalls: number;
  turns: number;
  tokens: number;
}

function resultOf({ index, outcome, steps, rewards, reward }: Trajectory): Result {
  return {
    index,
    aborted: outcome.kind === 'aborted',
    end: 'reason' in outcome ? `${outcome.kind}:${outcome.reason}` : outcome.kind,
    rewards,
    reward: reward ?? 0,
    toolCalls: sum(steps.map(({ calls }) => calls.length)),
    turns: steps.length,
    tokens: sum(steps.map(({ action }) => action.tokens?.action.length ?? 0)),
  };
}

function summarise(results: Result[]): Omit<Evaluation, 'seconds'> {
  const played = results.filter(({ aborted }) => !aborted);
  const means: Evaluation['means'] = {};
  for (const name of Object.keys(results[0]?.rewards ?? {})) {
    const scored = played.map(({ rewards }) => rewards[name]).filter((value) => typeof value === 'number');
    means[name] = mean(scored);
  }
  const outcomes: Evaluation['outcomes'] = {};
  for (const { end } of played) outcomes[end] = (outcomes[end] ?? 0) + 1;
  return {
    episodes: results.length,
    aborted: results.length - played.length,
    means,
    reward: mean(played.map(({ reward }) => reward)),
    outcomes,
    toolCalls: mean(played.map(({ toolCalls }) => toolCalls)) ?? 0,
    turns: mean(played.map(({ turns }) => turns)) ?? 0,
    tokens: sum(played.map(({ tokens }) => tokens)),
  };
}

function sum(values: readonly number[]): number {
  return values.reduce((total, value) => total + value, 0);
}

function mean(values: readonly number[]): number | null {
  return values.length > 0 ? sum(values) / values.length : null;
}
