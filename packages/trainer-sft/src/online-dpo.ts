/** Online DPO: the best episode of each group against the worst (arXiv 2402.04792), with the environment as the judge. */
import type { JsonSchema, Trajectory } from '@toolenv/core';
import {
  type ConfigurableTrainer,
  defineTrainer,
  emptyUpdate,
  groupBy,
  type RolloutBatch,
  type RunOptions,
} from '@toolenv/training';
import { type PreferenceOptions, preferenceOptions } from './dpo-options.ts';
import { learnPairs, type Pair } from './learn-pairs.ts';

export const onlineDpo: ConfigurableTrainer<PreferenceOptions & RunOptions> = defineTrainer<
  JsonSchema,
  PreferenceOptions
>({
  name: 'online-dpo',
  description: 'Direct preference optimisation on the best and the worst episode of each group',
  options: { properties: preferenceOptions },
  // Two episodes make a pair.
  minimums: { groupSize: 2 },
  async create(context) {
    const reference = await context.learner.reference();
    return {
      async update(batch) {
        const pairs = pairsOf(batch);
        const learned = pairs.length > 0 ? await learnPairs(context, reference, pairs) : emptyUpdate;
        return { ...learned, pairs: pairs.length };
      },
    };
  },
});
export default onlineDpo;

/** The best against the worst of each group; none of a group whose episodes all scored the same. */
function pairsOf({ trajectories, rows }: Pick<RolloutBatch, 'trajectories' | 'rows'>): Pair[] {
  const ofEpisode = (episode: Trajectory) => rows.filter(({ trajectory }) => trajectory === episode);
  return [...groupBy(trajectories, ({ group }) => group).values()].flatMap((episodes) => {
    const byReward = episodes.toSorted((a, b) => b.reward! - a.reward!);
    const [best, worst] = [byReward[0]!, byReward.at(-1)!];
    if (best.reward === worst.reward) return [];
    return [{ chosen: ofEpisode(best), rejected: ofEpisode(worst) }];
  });
}
