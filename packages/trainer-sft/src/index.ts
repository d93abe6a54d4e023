/** @toolenv/trainer-sft: learning from examples and from preferences. */
export { dpo } from './dpo.ts';
export type { DpoLossOptions, Side } from './dpo-loss.ts';
export type { DpoOptions, PreferenceOptions } from './dpo-options.ts';
export { onlineDpo } from './online-dpo.ts';
export { type RejectionOptions, rejectionSampling } from './rejection-sampling.ts';
export { sft } from './sft.ts';
export type { SftOptions } from './sft-options.ts';
