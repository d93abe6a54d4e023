/** estimateReturns: how much more each token earned than the critic expected, and what the critic learns from that. */
import type { TokenValues } from '@toolenv/core/learner';
import {
  type AdvantageEstimator,
  type AdvantageInputs,
  estimateAdvantages,
  generalizedAdvantages,
  type TurnAdvantages,
  turnGeneralizedAdvantages,
} from '@toolenv/training';
import type { PpoOptions } from './ppo-options.ts';

/** @param estimator The user's. The critic then learns advantage + value on each token. */
export function estimateReturns(
  inputs: AdvantageInputs & { values: TokenValues },
  estimator: AdvantageEstimator | undefined,
  options: PpoOptions,
): TurnAdvantages {
  const { rows, rewards, values, mask, parents } = inputs;
  const decisions = [...mask];
  if (estimator) {
    const advantages = estimateAdvantages(estimator, inputs, { ...options });
    const returns = advantages.map((row, b) =>
      row.map((advantage, t) => (mask[b]![t] === 1 ? advantage + values[b]![t]! : 0)),
    );
    return { advantages, returns, decisions };
  }
  if (options.credit === 'turn') {
    const turns = rows.map((row) => row.turns);
    return turnGeneralizedAdvantages(rewards, values, mask, turns, parents, options);
  }
  return { ...generalizedAdvantages(rewards, values, mask, parents, options), decisions };
}
