/** @toolenv/verifiers: environments of verifiers as environments. */
export type { VerifiersTask } from './tasks.ts';
export { default as verifiersEnv } from './verifiers-v1.ts';
