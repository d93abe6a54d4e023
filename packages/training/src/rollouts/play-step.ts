/** The rollout of one step: which tasks are played, how often, and which episodes are learned from. */
import { deriveSeed, type Env, type EnvHandle, type TaskResult, type Trajectory } from '@toolenv/core';
import type { Metrics, Run } from '@toolenv/core/plugins';
import { BusyClock } from '../reports/timed-learner.ts';
import type { Algorithm } from '../trainer/algorithm.ts';
import type { RunOptions } from '../trainer/run-options.ts';
import type { AbortWatch } from './abort-watch.ts';
import { draw } from './draw-episodes.ts';
import type { GroupScorer } from './group-scorer.ts';
import { playEpisodes } from './play-episodes.ts';
import { rolloutMetrics } from './rollout-metrics.ts';
import { shuffleRewards } from './shuffle-rewards.ts';

export interface PlayedStep {
  /** Every episode, aborted episodes included. */
  played: Trajectory[];
  /** Episodes to learn from. */
  scored: Trajectory[];
  /** Number of a group → index of its task. */
  tasks: ReadonlyMap<number, number>;
  metrics: Metrics;
}

/**
 * Plays `groupSize` episodes of each of the step's tasks. With `resample`, other tasks take the place of groups that it does
 * not keep.
 * @param watch Sees every episode of the run as it ends.
 * @param results What the environment may choose tasks by.
 */
export async function playStep(
  run: Run & { env: EnvHandle<unknown>; scorer?: GroupScorer | undefined },
  options: RunOptions,
  step: number,
  algorithm: Pick<Algorithm, 'resample' | 'learnsUnscored'>,
  watch: AbortWatch,
  results: ReadonlyMap<number, TaskResult>,
): Promise<PlayedStep> {
  const { env, seed, signal, scorer } = run;
  const { maxStaleness, tasksPerStep, groupSize } = options;
  const started = performance.now();
  const stepSeed = deriveSeed(seed, 'step', step);
  const waiting = new BusyClock();
  const common = {
    env: timedEnv(env, waiting),
    seed: stepSeed,
    watch,
    // A rollout that runs ahead depends on timing anyway, so its conversations need not wait for one another's tools.
    ...(maxStaleness > 0 && { batchDelay: 10 }),
  };
  const groups = { tasksPerStep, groupSize, seed };
  const tasks = new Map<number, number>();
  const played: Trajectory[] = [];
  const { scored, metrics } = await resampled(algorithm.resample, tasksPerStep, async (count, attempt) => {
    const drawn = await draw(env, groups, { step, count, attempt, results });
    for (const [group, index] of drawn.tasks) tasks.set(group, index);
    const ended = await playEpisodes(run, options, { ...common, episodes: drawn.episodes });
    const trajectories = scorer ? await scorer.score(ended, { watch, signal }) : ended;
    for (const trajectory of trajectories) trajectory.index = played.push(trajectory) - 1;
    const counting = learnable(trajectories, algorithm);
    return options.shuffleRewards ? shuffleRewards(counting, stepSeed) : counting;
  });
  const time = { rollout: (performance.now() - started) / 1000, environment: waiting.seconds };
  return { played, scored, tasks, metrics: { ...rolloutMetrics(played, time), ...metrics } };
}

/** What a rollout needs of an environment; `clock` runs while an episode waits for it. */
function timedEnv<Task>(
  env: EnvHandle<Task>,
  clock: BusyClock,
): Pick<EnvHandle<Task>, 'episode' | 'ref' | 'packageVersion' | 'capabilities'> {
  const { ref, packageVersion, capabilities } = env;
  const episode = (): Env<Task> => {
    const inner = env.episode();
    return {
      spec: inner.spec,
      reset: (options) => clock.time(() => inner.reset(options)),
      step: (action, options) => clock.time(() => inner.step(action, options)),
      close: () => inner.close(),
    };
  };
  return { ref, packageVersion, capabilities, episode };
}

/** Without aborted episodes, and without those that nothing scored, unless the algorithm needs no scores. */
export function learnable(
  trajectories: readonly Trajectory[],
  { learnsUnscored = false }: Pick<Algorithm, 'learnsUnscored'> = {},
): Trajectory[] {
  return trajectories.filter(
    ({ outcome, reward }) => outcome.kind !== 'aborted' && (learnsUnscored || reward !== null),
  );
}

/**
 * The scored trajectories of `wanted` groups. With `resample`, only those that it keeps; fewer groups if too few are kept after all
 * attempts.
 * @param play Plays `count` further groups. Attempts count from 0. Returns the scored trajectories.
 */
export async function resampled(
  resample: Algorithm['resample'],
  wanted: number,
  play: (count: number, attempt: number) => Promise<Trajectory[]>,
): Promise<{ scored: Trajectory[]; metrics: Metrics }> {
  const first = await play(wanted, 0);
  if (!resample) return { scored: first, metrics: {} };
  const scored = resample.keep(first);
  let attempt = 1;
  for (; attempt <= resample.maxAttempts; attempt++) {
    const missing = wanted - new Set(scored.map(({ group }) => group)).size;
    if (missing === 0) break;
    scored.push(...resample.keep(await play(missing, attempt)));
  }
  return { scored, metrics: { num_gen_batches: attempt } };
}
