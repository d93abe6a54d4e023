export { type Algorithm, type AlgorithmOptions, algorithms } from './algorithms.ts';
export { default, grpo } from './grpo.ts';
export type { GrpoOptions } from './grpo-options.ts';
