/** @toolenv/tinker: sampling and training on a server of the Tinker API. */
export type { ConnectionOptions } from './connection.ts';
export { type TinkerPolicyOptions, tinkerPolicy } from './open-policy.ts';
export type { TinkerLearner } from './tinker-learner.ts';
export type { TinkerPolicy } from './tinker-policy.ts';
