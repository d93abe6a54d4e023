/** The steps of a run: what each learns from, and the rollout before it unless the algorithm learns from data. */
import { deriveSeed, type EnvHandle, type TaskResult, ToolEnvError } from '@toolenv/core';
import type { Metrics, Run } from '@toolenv/core/plugins';
import { AbortWatch } from '../rollouts/abort-watch.ts';
import type { GroupScorer } from '../rollouts/group-scorer.ts';
import { learnable, type PlayedStep, playStep } from '../rollouts/play-step.ts';
import { rolloutMetrics } from '../rollouts/rollout-metrics.ts';
import type { WorkerRollouts } from '../rollouts/workers/worker-rollouts.ts';
import { playerEpisodes } from '../rows/player-episodes.ts';
import { toTrainingRows } from '../rows/training-row.ts';
import type { Algorithm, DataAlgorithm, PlayingAlgorithm, PromptAlgorithm } from '../trainer/algorithm.ts';
import type { RunOptions } from '../trainer/run-options.ts';
import { emptyUpdate } from '../update/run-optimizer-steps.ts';

export interface Step {
  /** Absent if the algorithm learns from data. */
  rollout?: PlayedStep;
  /** Updates since the rollout began, if rollouts run ahead. */
  staleness?: number;
  learn(at: { step: number; seed: number }): Promise<Metrics>;
}

/** Steps from `from` up to, not including, `to`. */
interface Range {
  from: number;
  to: number;
}

export async function* dataSteps(
  algorithm: DataAlgorithm,
  { from, to }: Range,
): AsyncGenerator<Step, void, void> {
  for (let step = from; step < to; step++) yield { learn: (at) => algorithm.learn(at) };
}

/** @param results What the environment may choose tasks by. */
export async function* episodeSteps(
  algorithm: Algorithm,
  run: Run & { env: EnvHandle<unknown>; scorer: GroupScorer | undefined },
  options: RunOptions,
  { from, to }: Range,
  results: ReadonlyMap<number, TaskResult>,
): AsyncGenerator<Step, void, void> {
  const { maxStaleness } = options;
  const range = { from, to, ahead: maxStaleness, signal: run.signal };
  const watch = new AbortWatch(options.maxAborted);
  const rollouts = rolloutsAhead(range, (at, stop) =>
    playStep({ ...run, signal: stop }, options, at, algorithm, watch, results),
  );
  for await (const { rollout, staleness } of rollouts) {
    yield {
      rollout,
      ...(maxStaleness > 0 && { staleness }),
      learn: (at) => update(algorithm, rollout.scored, at),
    };
  }
}

/** The steps of an algorithm that plays its own episodes. Seeded as those of others. */
export async function* playedSteps(
  algorithm: PlayingAlgorithm & Partial<Pick<PromptAlgorithm, 'isOver'>>,
  { seed, signal }: Pick<Run, 'seed' | 'signal'>,
  { from, to }: Range,
  results: ReadonlyMap<number, TaskResult>,
): AsyncGenerator<Step, void, void> {
  for (let step = from; step < to && !algorithm.isOver; step++) {
    signal?.throwIfAborted();
    const started = performance.now();
    const at = { step, seed: deriveSeed(seed, 'step', step), results };
    const { trajectories, tasks = new Map(), learn } = await algorithm.play(at);
    const time = { rollout: (performance.now() - started) / 1000 };
    // A group is a task with several texts or weights: nothing is learned from its variance.
    const { frac_reward_zero_std: _, ...metrics } = rolloutMetrics(trajectories, time);
    const scored = learnable(trajectories);
    yield { rollout: { played: trajectories, scored, tasks, metrics }, learn: async () => learn() };
  }
}

/** The steps of a trainer whose episodes other processes play. */
export async function* workerSteps(
  algorithm: Algorithm,
  rollouts: WorkerRollouts,
  { from, to }: Range,
  scorer: GroupScorer | undefined,
): AsyncGenerator<Step, void, void> {
  try {
    await rollouts.begin(from);
    for (let step = from; step < to; step++) {
      const { rollout, staleness, close } = await rollouts.rollout(step, to - step, algorithm, scorer);
      yield {
        rollout,
        staleness,
        learn: async (at) => {
          const metrics = await update(algorithm, rollout.scored, at);
          // Only now: a checkpoint without these groups must have learned from them.
          close();
          return metrics;
        },
      };
    }
  } finally {
    await rollouts.release();
  }
}

async function update(
  algorithm: Algorithm,
  scored: PlayedStep['scored'],
  at: { step: number; seed: number },
): Promise<Metrics> {
  const trajectories = learnable(scored.flatMap(playerEpisodes), algorithm);
  const rows = trajectories.flatMap(toTrainingRows);
  if (rows.length === 0) return emptyUpdate;
  if (typeof algorithm.update !== 'function')
    throw new ToolEnvError('bug.trainer', 'The trainer has no update: return { update } from create.');
  const metrics = await algorithm.update({ ...at, trajectories, rows });
  if (typeof metrics === 'object' && metrics !== null) return metrics;
  const remedy = 'return its metrics, such as { grad_norm: gradNorm }';
  throw new ToolEnvError('bug.trainer', `The update of the trainer returned ${metrics}: ${remedy}.`);
}

/** A rollout, and the age of the weights that began it. */
interface RolloutsAhead<Rollout> {
  rollout: Rollout;
  /** Updates between the beginning of the rollout and its delivery. */
  staleness: number;
}

/**
 * Yields the rollouts of the steps from `from` up to, not including, `to`, in order. Requesting the next rollout means that
 * earlier rollouts have been trained on.
 *
 * With `ahead` 0 a rollout begins when it is requested. Otherwise that many further rollouts are in flight, so that slow tools do
 * not delay learning; a rollout is delivered at most `ahead` updates after it began (bounded staleness, as in AReaL, arXiv
 * 2505.24298). Weights may change in the middle of an episode: each token keeps the log-probability it was sampled with.
 * @param play Begins the rollout of a step. Its signal aborts when the rollout is no longer needed.
 */
export async function* rolloutsAhead<Rollout>(
  { from, to, ahead, signal }: { from: number; to: number; ahead: number; signal?: AbortSignal },
  play: (step: number, signal: AbortSignal) => Promise<Rollout>,
): AsyncGenerator<RolloutsAhead<Rollout>, void, void> {
  const leave = new AbortController();
  const stop = signal ? AbortSignal.any([signal, leave.signal]) : leave.signal;
  const inFlight: { begun: number; rollout: Promise<Rollout> }[] = [];
  let next = from;
  try {
    for (let step = from; step < to; step++) {
      for (; next < to && next <= step + ahead; next++) {
        const rollout = play(next, stop);
        // It may reject before it is awaited below, which must not count as unhandled.
        rollout.catch(() => {});
        inFlight.push({ begun: step, rollout });
      }
      const { begun, rollout } = inFlight[0]!;
      yield { rollout: await rollout, staleness: step - begun };
      inFlight.shift();
    }
  } finally {
    leave.abort();
    await Promise.allSettled(inFlight.map(({ rollout }) => rollout));
  }
}
