/** The built-in advantage estimators, by name. */
import type { AdvantageEstimator } from './define-advantage.ts';
import { grpoAdvantage } from './grpo-advantage.ts';
import { reinforceAdvantage, reinforceBaselineAdvantage } from './reinforce-advantages.ts';
import { rlooAdvantage } from './rloo-advantage.ts';

export const advantages: Readonly<Record<string, AdvantageEstimator>> = Object.fromEntries(
  [grpoAdvantage, rlooAdvantage, reinforceAdvantage, reinforceBaselineAdvantage].map((each) => [
    each.name,
    each,
  ]),
);
