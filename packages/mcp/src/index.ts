/** @toolenv/mcp: MCP servers as tools, and environments as MCP servers. */

export { connectMcp } from './client/connect-mcp.ts';
export { loginMcp, logoutMcp } from './client/login-mcp.ts';
export type { McpClient, McpProgress, McpRequestOptions, McpToolDefinition } from './client/mcp-client.ts';
export type { McpConnection, McpOptions } from './client/mcp-connection.ts';
export {
  type McpForm,
  type McpFormAnswer,
  type McpHooks,
  type McpSample,
  type PolicyHooksOptions,
  policyHooks,
} from './client/mcp-hooks.ts';
export {
  type McpLease,
  type McpLeaseOptions,
  type McpPool,
  type McpPoolOptions,
  mcpToolFactory,
  openMcpPool,
} from './client/mcp-pool.ts';
export {
  type McpClientGiven,
  type McpCommand,
  type McpEndpoint,
  type McpServer,
  type McpUrl,
  parseServer,
  type ServerAdditions,
  withAdditions,
} from './client/mcp-server.ts';
export type { McpTool, McpToolResult } from './client/mcp-tool.ts';
export type { ServerReset } from './client/pooled-server.ts';
export type { McpPrimitive } from './client/primitive-tools.ts';
export type { ServerOptions } from './client/server-options.ts';
export type { McpLogin } from './client/stored-login.ts';
export { type InitResult, initMcpEnv } from './env/init-mcp-env.ts';
export { defineMcpEnv } from './env/mcp-env.ts';
export type {
  McpEnvDefinition,
  McpEnvOptions,
  McpEpisodeContext,
  McpEpisodeState,
  McpOptionsSchema,
} from './env/mcp-env-definition.ts';
export type { EnvReset, McpResetContext, McpServerContext, McpServerOf } from './env/mcp-servers.ts';
export type { McpTask, McpTasks } from './env/mcp-task.ts';
export type { HttpOptions } from './serve/http-options.ts';
export type { RecordedOutcome, ScoreRecord } from './serve/score-record.ts';
export { type McpService, type ServeOptions, serveMcp } from './serve/serve-mcp.ts';
