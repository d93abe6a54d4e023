export { type Algorithm, type AlgorithmOptions, algorithms, resolveAlgorithm } from './algorithms.ts';
export { default, grpo } from './grpo.ts';
export { type GrpoOptions, grpoOptions } from './grpo-options.ts';
