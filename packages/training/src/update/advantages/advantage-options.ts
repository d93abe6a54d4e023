/** The options that choose an advantage estimator, and those of the built-in estimators. A trainer spreads them into its own properties. */
import { type OptionSchema, optionsOfParts } from '../losses/loss-options.ts';
import { advantages } from './advantages.ts';
import type { AdvantageEstimator } from './define-advantage.ts';
import type { RewardScale } from './group-advantages.ts';

export const advantageOptions: Readonly<Record<string, OptionSchema>> = {
  advantage: {
    enum: Object.keys(advantages),
    part: 'advantages',
    description: 'advantage estimator: a name, or the reference or file of an estimator',
  },
  ...optionsOfParts(advantages),
};

export interface AdvantageOptions {
  /** A name, a reference, or an estimator. */
  advantage?: string | AdvantageEstimator;
  scaleRewards?: RewardScale;
  credit?: 'episode' | 'turn';
  gamma?: number;
}
