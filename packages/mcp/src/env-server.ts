/** The MCP server of one session: passes requests to the session, and limits what clients learn about errors. */
import { Server } from '@modelcontextprotocol/sdk/server/index.js';
import {
  CallToolRequestSchema,
  ErrorCode,
  GetPromptRequestSchema,
  ListPromptsRequestSchema,
  ListToolsRequestSchema,
  McpError,
  type PromptMessage,
} from '@modelcontextprotocol/sdk/types.js';
import { isInfrastructure, type Message, messageOf } from '@toolenv/core';
import { closeInTime, type EpisodeOptions, type ServedEnv } from '@toolenv/core/serving';
import { answerName, EnvSession, resetName } from './env-session.ts';
import { implementation } from './implementation.ts';

export interface EnvServerOptions extends EpisodeOptions {
  /** Called with errors that are bugs of the environment. The client learns only that there was one. Default: write to stderr. */
  onError?(error: unknown): void;
}

export interface EnvServer {
  readonly server: Server;
  /** Settles when the server is closed, and its Env too. */
  readonly closed: Promise<void>;
}

/** Creates the server for one client. Closing the server closes its Env. */
export function createEnvServer<Task>(served: ServedEnv<Task>, options: EnvServerOptions): EnvServer {
  const session: EnvSession<Task> = new EnvSession(served, options, () => server.sendToolListChanged());
  const server: Server = new Server(
    { name: session.name, version: served.packageVersion ?? implementation.version },
    {
      capabilities: { tools: { listChanged: true }, prompts: {} },
      instructions: `The environment ${session.name}. ${resetName} begins an episode and returns its task; use the tools to solve it, and give the answer with ${answerName}.`,
    },
  );
  const guard =
    <Request, Result>(handle: (request: Request, signal: AbortSignal) => Promise<Result>) =>
    async (request: Request, { signal }: { signal: AbortSignal }): Promise<Result> => {
      try {
        return await session.inTurn(() => handle(request, signal));
      } catch (error) {
        throw toWire(error, signal, options.onError);
      }
    };
  server.setRequestHandler(
    ListToolsRequestSchema,
    guard(async (_, signal) => ({ tools: await session.listTools(signal) })),
  );
  server.setRequestHandler(
    CallToolRequestSchema,
    guard(({ params }, signal) => session.call(params.name, params.arguments ?? {}, signal)),
  );
  server.setRequestHandler(ListPromptsRequestSchema, async () => ({
    prompts: [{ name: 'observation', description: 'The current conversation of the environment.' }],
  }));
  server.setRequestHandler(
    GetPromptRequestSchema,
    guard(async ({ params }, signal) => {
      if (params.name !== 'observation') {
        throw new McpError(ErrorCode.InvalidParams, `No prompt "${params.name}": ask for "observation".`);
      }
      return { messages: (await session.observe(signal)).messages.map(toPromptMessage) };
    }),
  );
  const closed = new Promise<void>((resolve) => {
    server.onclose = () => {
      closeInTime(session, session.name)
        .catch((error: unknown) => reportError(error, options.onError))
        .finally(resolve);
    };
  });
  return { server, closed };
}

/** MCP prompts have only the roles user and assistant. */
function toPromptMessage({ role, content }: Message): PromptMessage {
  return { role: role === 'assistant' ? 'assistant' : 'user', content: { type: 'text', text: content } };
}

/** The error as the client sees it. The message of a bug stays on this side. */
function toWire(error: unknown, signal: AbortSignal, onError: EnvServerOptions['onError']): McpError {
  if (error instanceof McpError) return error;
  if (signal.aborted) return new McpError(ErrorCode.ConnectionClosed, 'The call was cancelled.');
  if (isInfrastructure(error)) {
    const data = { code: error.code, retryable: true };
    const message = `The episode was aborted and is not scored: ${error.message} Call ${resetName} for another.`;
    return new McpError(ErrorCode.InternalError, message, data);
  }
  reportError(error, onError);
  return new McpError(ErrorCode.InternalError, 'The environment failed: see the log of its server.');
}

/** Reports an error to the one who serves. */
export function reportError(error: unknown, onError: EnvServerOptions['onError']): void {
  if (onError) onError(error);
  else process.stderr.write(`${error instanceof Error ? error.stack : messageOf(error)}\n`);
}
