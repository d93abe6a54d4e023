export { AdaptiveKl, FixedKl, type KlController, penalisedRewards } from './kl-in-reward.ts';
export { type PolicyLoss, type PolicyLossInputs, type PolicyLossOptions, policyLoss } from './policy-loss.ts';
export { default, ppo } from './ppo.ts';
export { type PpoOptions, ppoOptions } from './ppo-options.ts';
export { type ValueLoss, type ValueLossInputs, valueLoss } from './value-loss.ts';
