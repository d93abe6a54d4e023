/** The scores of an evaluation by task, for numbers whose unit is the task. */
import type { EpisodeSummary } from '@toolenv/core';

/**
 * The scores of each task's episodes. Aborted episodes, and episodes whose score is `null`, are left out.
 * @param summaries `samples` episodes of each task, numbered task by task.
 */
export function taskScores(
  summaries: readonly EpisodeSummary[],
  samples: number,
  scoreOf: (summary: EpisodeSummary) => number | null | undefined,
): number[][] {
  const scores: number[][] = [];
  for (const summary of summaries) {
    const task = Math.floor(summary.index / samples);
    scores[task] ??= [];
    const score = summary.fault === undefined ? scoreOf(summary) : null;
    if (typeof score === 'number') scores[task].push(score);
  }
  return scores;
}
