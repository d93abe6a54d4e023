/** transformReward: other rewards, made of the environment's own. Gymnasium's TransformReward, by component. */
import type { Transition } from '../protocol/env.ts';
import type { ScoredOutcome } from '../protocol/outcome.ts';
import { type RewardSpec, type Rewards, scoreTruncation } from '../protocol/reward.ts';
import { type Wrappable, type Wrapped, withChanges, wrap } from './wrap.ts';

/** A step that may be scored. */
export type ScoredTransition = Extract<Transition, { outcome: ScoredOutcome }>;

export interface RewardTransform {
  /** All components there are now. To keep the environment's own, spread its definition's `rewards` into them. */
  rewards: RewardSpec;
  /** What a step is worth, given what the environment says of it. Aborted steps are not asked about. */
  transform(rewards: Rewards, transition: ScoredTransition): Rewards;
}

/**
 * The environment with the rewards that `transform` gives. A truncated step is worth 0 in outcome components that it
 * leaves unscored.
 */
export function transformReward<Inner extends Wrappable>(
  env: Inner,
  { rewards, transform }: RewardTransform,
): Wrapped<Inner> {
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
