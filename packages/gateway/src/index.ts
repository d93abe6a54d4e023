/** @toolenv/gateway: trains agents that exist. */
export type { AgentContext, AgentEpisodeContext } from './agent-episode.ts';
export { type CaptureService, capture } from './capture/capture.ts';
export { type CaptureOptions, captureSchema } from './capture/capture-options.ts';
export { type CommandOptions, command } from './command.ts';
export type { Confinement } from './confinement.ts';
export { converse } from './converse.ts';
export { type AgentEnvDefinition, defineAgentEnv } from './define-agent-env.ts';
export type { Malformed } from './history.ts';
export type { ProgramPlace } from './launch.ts';
export { CommandFailed, type CommandResult } from './program.ts';
export { type PolicyService, servePolicy } from './serve/serve-policy.ts';
export type { ServePolicyOptions } from './serve/serve-policy-options.ts';
