/** connectMcp: offers an MCP server's tools as Tools while the connection is open. */
import { asClause, messageOf, ToolEnvError } from '@toolenv/core';
import { Deadline } from '@toolenv/core/tools';
import { isUnauthorized } from './client-error.ts';
import { Connection, defaultConnectTimeout, type McpConnection, type McpOptions } from './mcp-connection.ts';
import { describeServer, hideInArguments, type McpServer } from './mcp-server.ts';
import { ServerLink } from './server-link.ts';

/**
 * Connects to a server over stdio or HTTP, or takes a connected client. The server may speak MCP 2026-07-28, or
 * 2025-11-25 and older: the newest revision that both sides know is used.
 *
 * Calls of the tools return a failed result (`isError`) if the server answers with a JSON-RPC error. They throw
 * `infrastructure.mcp_closed` if the server has ended or the connection is broken, `infrastructure.mcp_timeout` after
 * `callTimeout`, `infrastructure.mcp_result` for a result that breaks the tool's schema, and `infrastructure.mcp_error` for
 * any other failure of the transport. If the context's signal aborts, they throw its reason and cancel the call on the server.
 * @throws ToolEnvError `usage.mcp_command`, `usage.mcp_url`, `usage.mcp_tool` (a name in `only`), `usage.mcp_authorization`,
 *   `infrastructure.mcp_connect`.
 */
export async function connectMcp(server: McpServer, options: McpOptions = {}): Promise<McpConnection> {
  const name = describeServer(server);
  const { connectTimeout = defaultConnectTimeout } = options;
  // Throws for an invalid server, so it comes before the deadline, whose timer would outlive the call.
  const link = 'client' in server ? { client: server.client } : new ServerLink(server, options);
  const connection = new Connection(link, name, options);
  const deadline = new Deadline({
    after: connectTimeout,
    parent: options.signal,
    reason: () => {
      const silence = connection.explain(`${name} did not answer within ${connectTimeout / 1000} s`);
      const message = `${silence}: raise connectTimeout (--connect-timeout) or fix the server.`;
      return new ToolEnvError('infrastructure.mcp_connect', message);
    },
  });
  try {
    await deadline.race((signal) => connection.open(signal));
    return connection;
  } catch (error) {
    if (deadline.signal.aborted) {
      await connection.abandon();
      throw deadline.signal.reason;
    }
    await connection.close();
    if (ToolEnvError.isInstance(error)) throw error;
    if (isUnauthorized(error)) throw unauthorized(name, server, error);
    const message = `${name} cannot be used: ${connection.why(error)}: check the server and how it is started.`;
    throw new ToolEnvError('infrastructure.mcp_connect', message, { cause: error });
  } finally {
    deadline.clear();
  }
}

function unauthorized(name: string, server: McpServer, cause: unknown): ToolEnvError {
  const remedy =
    'authProvider' in server && server.authProvider
      ? 'let its user agree, finish with `auth` of @modelcontextprotocol/client, and connect again'
      : `log in with \`toolenv mcp login ${'url' in server ? hideInArguments([String(server.url)])[0] : '<url>'}\`, or give a header such as Authorization (--header), or an authProvider`;
  const message = `${name} wants authorization (${asClause(messageOf(cause))}): ${remedy}.`;
  return new ToolEnvError('usage.mcp_authorization', message, { cause });
}
