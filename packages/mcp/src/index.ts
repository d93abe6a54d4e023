/** @toolenv/mcp: MCP servers as tools, and environments as MCP servers. */
export type { EnvServerOptions } from './agent-server.ts';
export { connectMcp } from './connect-mcp.ts';
export type { HttpOptions } from './http-options.ts';
export { type InitResult, initMcpEnv } from './init-mcp-env.ts';
export type { McpMaterial } from './material-tools.ts';
export type { McpClient, McpProgress, McpRequestOptions, McpToolDefinition } from './mcp-client.ts';
export type { McpConnection, McpOptions } from './mcp-connection.ts';
export { defineMcpEnv } from './mcp-env.ts';
export type {
  McpEnvDefinition,
  McpEnvOptions,
  McpEpisodeContext,
  McpEpisodeState,
  McpOptionsSchema,
} from './mcp-env-definition.ts';
export {
  type McpLease,
  type McpLeaseOptions,
  type McpPool,
  type McpPoolOptions,
  openMcpPool,
} from './mcp-pool.ts';
export {
  type McpClientGiven,
  type McpCommand,
  type McpEndpoint,
  type McpServer,
  type McpUrl,
  parseServer,
} from './mcp-server.ts';
export type { McpServerContext, McpServerOf } from './mcp-servers.ts';
export type { McpSplits, McpTask, McpTasks } from './mcp-task.ts';
export type { McpCallProgress, McpTool, McpToolResult } from './mcp-tool.ts';
export { mcpToolFactory } from './mcp-tool-factory.ts';
export type { RecordedOutcome, ScoreRecord } from './score-record.ts';
export { type McpService, type ServeOptions, serveMcp } from './serve-mcp.ts';
export { type ServerAdditions, withAdditions } from './server-additions.ts';
