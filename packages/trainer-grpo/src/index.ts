export {
  type ClippedLoss,
  type ClippedLossInputs,
  type ClippedLossOptions,
  clippedLoss,
} from './clipped-loss.ts';
export { groupAdvantages } from './group-advantages.ts';
export { default, grpo } from './grpo.ts';
export { type GrpoOptions, grpoOptions } from './grpo-options.ts';
