/** @toolenv/gateway: trains agents that exist. */
export type { AgentContext, AgentEpisodeContext } from './agent-episode.ts';
export { type CaptureService, capture } from './capture/capture.ts';
export { type CaptureOptions, captureSchema } from './capture/capture-options.ts';
export { CommandFailed, type CommandOptions, type CommandResult, command } from './command.ts';
export type { Confinement } from './confinement.ts';
export { type AgentEnvDefinition, defineAgentEnv } from './define-agent-env.ts';
export type { Malformed } from './history.ts';
export { type PolicyService, servePolicy } from './serve/serve-policy.ts';
export type { ServePolicyOptions } from './serve/serve-policy-options.ts';
