export { type Algorithm, type AlgorithmOptions, algorithms } from './algorithms.ts';
export { type AnchorStateOptions, anchorState } from './anchor-state.ts';
export { gigpo } from './gigpo.ts';
export { default, grpo } from './grpo.ts';
export type { GrpoOptions } from './grpo-options.ts';
