/** Which episodes of a training step the page shows with the advantages of their tokens. */
import type { Trajectory } from '@toolenv/core';
import type { TokenReport } from '@toolenv/core/plugins';
import { textsOf } from '../../packages/view/src/view/token-texts.ts';
import type { LearnedEpisode } from './messages.ts';

/** The best and the worst episode of the group whose rewards differ most; none if no group has a difference. */
export function learnedEpisodes(
  trajectories: readonly Trajectory[],
  reports: readonly TokenReport[],
  texts: (ids: Int32Array) => string[],
): LearnedEpisode[] {
  const turnsOf = new Map(reports.map(({ episodeId, turns }) => [episodeId, turns]));
  const groups = new Map<number, Trajectory[]>();
  for (const trajectory of trajectories)
    groups.set(trajectory.group, [...(groups.get(trajectory.group) ?? []), trajectory]);
  const ranked = [...groups.values()]
    .map((group) => {
      const sorted = group
        .filter(({ reward, episodeId }) => reward !== null && turnsOf.has(episodeId))
        .sort((one, other) => other.reward! - one.reward!);
      const [best, worst] = [sorted[0], sorted.at(-1)];
      return { best, worst, difference: best && worst ? best.reward! - worst.reward! : 0 };
    })
    .sort((one, other) => other.difference - one.difference);
  const [first] = ranked;
  if (!first || first.difference === 0) return [];
  return [first.best!, first.worst!].map((trajectory) => ({
    trajectory,
    texts: textsOf(trajectory, { texts }),
    learned: turnsOf.get(trajectory.episodeId)!,
  }));
}
