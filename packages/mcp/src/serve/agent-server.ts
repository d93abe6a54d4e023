/** The MCP server of an agent, for clients of every revision: shows a view of episodes, and limits what it learns about errors. */
import {
  type CallToolResult,
  type GetPromptResult,
  type Prompt,
  type PromptMessage,
  ProtocolError,
  ProtocolErrorCode,
  Server,
  type Tool,
} from '@modelcontextprotocol/server';
import { type CallProgress, isInfrastructure, type Message, type Observation } from '@toolenv/core';
import { redactSecrets, valueWithoutSecrets } from '@toolenv/core/secrets';
import { implementation } from '../implementation.ts';
import { type AgentRequest, answerName, type EnvSession, type SessionSource } from './env-session.ts';

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

/** Shows one episode, which the client's session or the URL names. */
export function sessionView(session: EnvSession): AgentView {
  return {
    instructions: `The environment ${session.name}. The prompt "observation" has the task; use the tools to solve it, and give the answer with ${answerName}.`,
    toolsChange: true,
    prompts: [{ name: 'observation', description: 'The current conversation of the environment.' }],
    listTools: (signal) => session.listTools(signal),
    call: (tool, args, request) => session.call(tool, args, request),
    async prompt(prompt, _, signal) {
      if (prompt !== 'observation') {
        const message = `No prompt "${prompt}": ask for "observation".`;
        throw new ProtocolError(ProtocolErrorCode.InvalidParams, message);
      }
      return toPrompt(await session.observe(signal));
    },
  };
}

export function toPrompt({ messages }: Observation): GetPromptResult {
  return { messages: messages.map(toPromptMessage) };
}

/** MCP prompts have only the roles user and assistant. */
function toPromptMessage({ role, content }: Message): PromptMessage {
  return { role: role === 'assistant' ? 'assistant' : 'user', content: { type: 'text', text: content } };
}

export interface SessionServer {
  readonly server: Server;
  /** Settles when the server is closed, and its Env too if the server owns the session. */
  readonly closed: Promise<void>;
}

/**
 * The MCP server of one client with a session, which plays one episode.
 * @param owns Whether closing the server closes the session.
 */
export function createSessionServer(
  source: SessionSource,
  session: EnvSession = source.open(),
  owns = true,
): SessionServer {
  const server = createAgentServer(sessionView(session), source);
  // A client that has left learns nothing of the change.
  const notify = () => void server.sendToolListChanged().catch(() => {});
  session.toolsChanged.add(notify);
  const closed = new Promise<void>((resolve) => {
    server.onclose = () => {
      session.toolsChanged.delete(notify);
      if (!owns) return resolve();
      session.close().catch(source.onError).finally(resolve);
    };
  });
  return { server, closed };
}

/** The error for a client when the server is full. */
export function tooMany(limit: number): string {
  const clients = limit === 1 ? 'one client at a time' : `at most ${limit} clients at a time`;
  return `Too many sessions: this server takes ${clients} (maxSessions): end a session, or try again later`;
}
