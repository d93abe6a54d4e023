/** The MCP server of one client with a session, which plays one episode. */
import type { Server } from '@modelcontextprotocol/server';
import { createAgentServer } from './agent-server.ts';
import type { EnvSession, SessionSource } from './env-session.ts';
import { sessionView } from './session-view.ts';

export interface SessionServer {
  readonly server: Server;
  /** Settles when the server is closed, and its Env too if the server owns the session. */
  readonly closed: Promise<void>;
}

/** @param owns Whether closing the server closes the session. */
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
