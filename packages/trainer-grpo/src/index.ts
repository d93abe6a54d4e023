export { type AdvantageOptions, estimateAdvantages } from './advantages.ts';
export { type Algorithm, type AlgorithmOptions, algorithms, resolveAlgorithm } from './algorithms.ts';
export { groupAdvantages, leaveOneOutAdvantages, type RewardScale } from './group-advantages.ts';
export { default, grpo } from './grpo.ts';
export { type GrpoOptions, grpoOptions } from './grpo-options.ts';
export { type KlEstimator, klEstimate } from './kl-penalty.ts';
export { type PolicyLoss, type PolicyLossInputs, type PolicyLossOptions, policyLoss } from './policy-loss.ts';
export {
  discountedReturns,
  reinforceAdvantages,
  reinforceBaselineAdvantages,
} from './reinforce-advantages.ts';
export type { LossType } from './row-weights.ts';
export type { MismatchCorrection } from './sampler-mismatch.ts';
export { turnAdvantages } from './turn-advantages.ts';
