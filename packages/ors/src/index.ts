/** @toolenv/ors: environments for clients of the Open Reward Standard, and environments of its servers. */

export type { OrsTask } from './describe-server.ts';
export { default as orsV1 } from './ors-v1.ts';
export { type OrsService, type ServeOrsOptions, serveOrs } from './serve-ors.ts';
