/** transformReward: replaces the environment's rewards, as Gymnasium's TransformReward does, but by component. */
import { soundRewards } from '../env/reward-declaration.ts';
import type { ScoredTransition } from '../protocol/env.ts';
import { type RewardSpec, type Rewards, scoreTruncation } from '../protocol/reward.ts';
import { type Wrappable, type Wrapped, withChanges, wrap } from './wrap.ts';

/** The rewards of a wrapped environment. */
export interface RewardTransform {
  /** All components that the wrapped environment declares. To keep the environment's own, spread its definition's `rewards`. */
  rewards: RewardSpec;
  /** The rewards of a step, given the environment's own rewards. Not called for aborted steps. */
  transform(rewards: Rewards, transition: ScoredTransition): Rewards;
}

/**
 * Replaces the rewards of each step by those that `transform` returns. A truncated step is worth 0 in outcome components
 * that `transform` leaves unscored.
 * @throws ToolEnvError `bug.environment` for rewards whose kind, range or weight cannot be (ENV-4).
 */
export function transformReward<Inner extends Wrappable>(
  env: Inner,
  { rewards, transform }: RewardTransform,
): Wrapped<Inner> {
  soundRewards('transformReward', rewards);
  return wrap(env, (inner) =>
    withChanges(inner, {
      spec: { ...inner.spec, rewards },
      async step(action, options) {
        const transition = await inner.step(action, options);
        if (transition.rewards === undefined) return transition;
        const shaped = transform({ ...transition.rewards }, transition);
        const cut = transition.outcome.kind === 'truncated';
        return { ...transition, rewards: cut ? scoreTruncation(rewards, shaped) : shaped };
      },
    }),
  );
}
