/** @toolenv/trainer-sft: learning from examples and from preferences. */
export { sft } from './sft.ts';
export type { SftOptions } from './sft-options.ts';
