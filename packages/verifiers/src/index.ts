/** @toolenv/verifiers: environments of verifiers as environments. */
export type { VerifiersTask } from './tasks.ts';
export { default as verifiersV1 } from './verifiers-v1.ts';
