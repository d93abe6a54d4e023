/** @toolenv/mcp: MCP servers as tools, and environments as MCP servers. */
export { connectMcp, type McpConnection, type McpOptions } from './connect-mcp.ts';
export type { McpClient, McpProgress, McpRequestOptions, McpToolDefinition } from './mcp-client.ts';
export {
  type McpClientGiven,
  type McpCommand,
  type McpEndpoint,
  type McpServer,
  type McpUrl,
  parseServer,
} from './mcp-server.ts';
export type { McpCallProgress, McpTool, McpToolResult } from './mcp-tool.ts';
