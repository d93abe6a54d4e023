/** The built-in advantage estimators, by name. */

import { grpoAdvantage, rlooAdvantage } from './compared-advantages.ts';
import type { AdvantageEstimator } from './define-advantage.ts';
import { reinforceAdvantage, reinforceBaselineAdvantage } from './reinforce-advantages.ts';

export const advantages: Readonly<Record<string, AdvantageEstimator>> = Object.fromEntries(
  [grpoAdvantage, rlooAdvantage, reinforceAdvantage, reinforceBaselineAdvantage].map((each) => [
    each.name,
    each,
  ]),
);
