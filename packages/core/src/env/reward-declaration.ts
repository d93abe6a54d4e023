/** How an environment declares its rewards: kind, weight, range, and optionally a function that scores. */
import type { RewardComponent, RewardSpec } from '../protocol/reward.ts';
import type { EpisodeContext } from './episode.ts';

/** A component of the reward, as an environment declares it. */
export interface RewardDeclaration<Context = EpisodeContext> {
  /** `process`: any turn may earn it. `outcome`: it is scored once, at the end. */
  readonly kind: RewardComponent['kind'];
  /** Weight in the scalar reward. 0: reported, but not trained on. Default 1. */
  readonly weight?: number;
  /** Smallest and largest value. Default [0, 1]. */
  readonly range?: readonly [low: number, high: number];
  /**
   * The value where no hook gave it, or `null` for "not scored". An outcome reward is scored once, when the episode ends by
   * itself or the environment truncates it; a process reward after each turn.
   */
  score?(context: Context): number | null | Promise<number | null>;
}

/** The declarations with their defaults and without their functions, as trajectories hold them. */
export function rewardSpecOf<Context>(
  rewards: Readonly<Record<string, RewardDeclaration<Context>>>,
): RewardSpec {
  const spec = Object.entries(rewards).map(([name, { kind, range = [0, 1], weight = 1 }]) => {
    return [name, { kind, range, weight }];
  });
  return Object.fromEntries(spec);
}
