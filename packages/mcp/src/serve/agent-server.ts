/** The MCP server of an agent, for clients of every revision: shows a view of episodes, and limits what it learns about errors. */
import {
  type CallToolResult,
  type GetPromptResult,
  type Prompt,
  ProtocolError,
  ProtocolErrorCode,
  Server,
  type Tool,
} from '@modelcontextprotocol/server';
import { type CallProgress, isInfrastructure } from '@toolenv/core';
import { redactSecrets, valueWithoutSecrets } from '@toolenv/core/secrets';
import { implementation } from '../implementation.ts';
import type { AgentRequest, SessionSource } from './env-session.ts';

/** What an agent can see and do. Methods throw any error; the server decides how much of it the agent learns. */
export interface AgentView {
  readonly instructions: string;
  /** Whether the list of tools can change. */
  readonly toolsChange: boolean;
  readonly prompts: readonly Prompt[];
  listTools(signal: AbortSignal): Promise<Tool[]>;
  call(name: string, args: Record<string, unknown>, request: AgentRequest): Promise<CallToolResult>;
  /** @throws ProtocolError for an unknown prompt or a missing argument. */
  prompt(name: string, args: Record<string, string>, signal: AbortSignal): Promise<GetPromptResult>;
}

export function createAgentServer(view: AgentView, source: SessionSource): Server {
  const { name, version = implementation.version, onError } = source;
  const instructions = redactSecrets(view.instructions);
  const capabilities = { tools: view.toolsChange ? { listChanged: true } : {}, prompts: {} };
  const server = new Server({ name, version }, { capabilities, instructions });
  const guard = async <Result>(signal: AbortSignal, work: () => Promise<Result>): Promise<Result> => {
    try {
      return valueWithoutSecrets(await work());
    } catch (error) {
      throw toWire(error, signal, onError);
    }
  };
  server.setRequestHandler('tools/list', (_, { mcpReq: { signal } }) =>
    guard(signal, async () => ({ tools: await view.listTools(signal) })),
  );
  server.setRequestHandler('tools/call', ({ params }, { mcpReq }) => {
    const { signal } = mcpReq;
    const progressToken = params._meta?.progressToken;
    const onProgress = ({ progress, total, message }: CallProgress) => {
      const method = 'notifications/progress';
      const report = {
        progress,
        ...(total !== undefined && { total }),
        ...(message !== undefined && { message }),
      };
      // A client that has left learns nothing of the progress.
      mcpReq.notify({ method, params: { progressToken, ...report } }).catch(() => {});
    };
    const request = { signal, ...(progressToken !== undefined && { onProgress }) };
    return guard(signal, () => view.call(params.name, params.arguments ?? {}, request));
  });
  server.setRequestHandler('prompts/list', () => valueWithoutSecrets({ prompts: [...view.prompts] }));
  server.setRequestHandler('prompts/get', ({ params }, { mcpReq: { signal } }) =>
    guard(signal, () => view.prompt(params.name, params.arguments ?? {}, signal)),
  );
  return server;
}

/** The error as the client sees it. Messages stay on this side: they may name a secret or the answer of the task. */
function toWire(error: unknown, signal: AbortSignal, onError: SessionSource['onError']): ProtocolError {
  if (error instanceof ProtocolError) return error;
  if (signal.aborted) return new ProtocolError(ProtocolErrorCode.InternalError, 'The call was cancelled.');
  onError(error);
  if (isInfrastructure(error)) {
    const { code } = error;
    const message = `The episode was aborted (${code}): see the log of its server.`;
    return new ProtocolError(ProtocolErrorCode.InternalError, message, { code });
  }
  return new ProtocolError(
    ProtocolErrorCode.InternalError,
    'The environment failed: see the log of its server.',
  );
}
