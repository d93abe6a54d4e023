/** The MCP server of an agent: passes requests to its session, and limits what it learns about errors. */
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
import type { EpisodeOptions } from '@toolenv/core/serving';
import { answerName, type EnvSession } from './env-session.ts';
import { implementation } from './implementation.ts';

export interface EnvServerOptions extends EpisodeOptions {
  /** Called with errors that are bugs of the environment. The client learns only that there was one. Default: write to stderr. */
  onError?(error: unknown): void;
  /** A JSONL file to which the score of each episode is appended. */
  scores?: string;
}

export interface EnvServer {
  readonly server: Server;
  /** Settles when the server is closed, and its Env too if the server owns the session. */
  readonly closed: Promise<void>;
}

/** @param owns Whether closing the server closes the session. */
export function createEnvServer<Task>(
  session: EnvSession<Task>,
  onError: EnvServerOptions['onError'],
  owns = true,
): EnvServer {
  const server: Server = new Server(
    { name: session.name, version: session.version ?? implementation.version },
    {
      capabilities: { tools: { listChanged: true }, prompts: {} },
      instructions: `The environment ${session.name}. The prompt "observation" has the task; use the tools to solve it, and give the answer with ${answerName}.`,
    },
  );
  session.onToolsChanged = () => server.sendToolListChanged();
  const guard =
    <Request, Result>(handle: (request: Request, signal: AbortSignal) => Promise<Result>) =>
    async (request: Request, { signal }: { signal: AbortSignal }): Promise<Result> => {
      try {
        return await session.inTurn(() => handle(request, signal));
      } catch (error) {
        throw toWire(error, signal, onError);
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
      if (!owns) return resolve();
      session
        .close()
        .catch((error: unknown) => reportError(error, onError))
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
    const message = `The episode was aborted: ${error.message}`;
    return new McpError(ErrorCode.InternalError, message, { code: error.code });
  }
  reportError(error, onError);
  return new McpError(ErrorCode.InternalError, 'The environment failed: see the log of its server.');
}

/** Reports an error to the one who serves. */
export function reportError(error: unknown, onError: EnvServerOptions['onError']): void {
  if (onError) onError(error);
  else process.stderr.write(`${error instanceof Error ? error.stack : messageOf(error)}\n`);
}
