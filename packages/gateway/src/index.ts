/** @toolenv/gateway: trains agents that exist. */
export type { AgentContext, AgentEpisodeContext } from './agent-episode.ts';
export type { Blame } from './agent-fault.ts';
export { CommandFailed, type CommandOptions, type CommandResult, command } from './command.ts';
export { type AgentEnvDefinition, defineAgentEnv } from './define-agent-env.ts';
export type { Malformed } from './history.ts';
