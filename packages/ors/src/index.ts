/** @toolenv/ors: environments for clients of the Open Reward Standard, and environments on its servers. */

export { default as orsV1 } from './ors-v1.ts';
