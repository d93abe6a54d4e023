/** @toolenv/harnesses: coding agents from the registries play any environment, unmodified. */
export { type AcpProgram, acpAgent } from './acp-agent.ts';
export { type Harness, type HarnessJob, runProgram, serverName } from './harness.ts';
export { harnesses, harnessNamed } from './harnesses.ts';
export { placeSkill } from './place-skill.ts';
export { type SdkAgent, sdkAgent } from './sdk-agent.ts';
export { type HarnessOptions, withHarness } from './with-harness.ts';
