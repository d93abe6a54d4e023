/** @toolenv/harnesses: coding agents from the registries play any environment, unmodified. */
export { type Harness, type HarnessJob, runProgram, serverName } from './harness.ts';
export { harnesses, harnessNamed } from './harnesses.ts';
export { type HarnessOptions, withHarness } from './with-harness.ts';
