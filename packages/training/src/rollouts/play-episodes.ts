/** Plays the episodes of a step, all at once. */
import { collect, type EpisodeRequest, type RolloutOptions, rollout, type Trajectory } from '@toolenv/core';
import type { Run } from '@toolenv/core/plugins';
import type { RunOptions } from '../trainer/run-options.ts';
import type { AbortWatch } from './abort-watch.ts';

export interface EpisodesToPlay<Task> extends Pick<RolloutOptions<Task>, 'env' | 'seed' | 'retries'> {
  episodes: readonly EpisodeRequest<Task>[];
  /** Sees every episode as it ends. */
  watch: AbortWatch;
  /** As `SamplingOptions` has it. */
  batchDelay?: number;
}

/** @returns The trajectories in the order of `episodes`, aborted ones included. */
export function playEpisodes<Task>(
  { policy, signal, onProgress }: Pick<Run, 'policy' | 'signal' | 'onProgress'>,
  options: RunOptions,
  { watch, batchDelay, ...toPlay }: EpisodesToPlay<Task>,
): Promise<Trajectory[]> {
  const { deadline, onDeadline, onBug, onImages, maxTokens, temperature, topP, topK, minP } = options;
  const playing = rollout({
    ...toPlay,
    policy,
    concurrency: toPlay.episodes.length,
    sampling: { maxTokens, temperature, topP, topK, minP, ...(batchDelay !== undefined && { batchDelay }) },
    ...{ deadline, onDeadline, onBug, onImages, onProgress, signal },
  });
  return collect(watched(playing, watch));
}

async function* watched(
  trajectories: AsyncIterable<Trajectory>,
  watch: AbortWatch,
): AsyncGenerator<Trajectory, void, void> {
  for await (const trajectory of trajectories) {
    watch.add(trajectory.outcome);
    yield trajectory;
  }
}
