/** serveConnection: serves one client over stdio or a given transport. Its first message shows its revision. */
import { ProtocolError, ProtocolErrorCode, type Transport } from '@modelcontextprotocol/server';
import { serveStdio } from '@modelcontextprotocol/server/stdio';
import { serveProperties } from '@toolenv/serving';
import { createAgentServer } from './agent-server.ts';
import type { SessionSource } from './env-session.ts';
import { ExactStdio } from './exact-stdio.ts';
import { HandleView } from './handle-view.ts';
import { createSessionServer } from './session-server.ts';
import { tooMany } from './too-many.ts';

export interface Connection {
  /** Settles when the client has left and the Envs are closed. */
  closed: Promise<void>;
  close(): Promise<void>;
}

/** @param maxSessions Largest number of episodes at once. */
export function serveConnection(
  source: SessionSource,
  given: 'stdio' | Transport,
  maxSessions: number = serveProperties.maxSessions.default,
): Connection {
  const transport = given === 'stdio' ? new ExactStdio() : given;
  const handles = new HandleView(source, {
    assertRoom() {
      if (handles.episodes.size < maxSessions) return;
      throw new ProtocolError(ProtocolErrorCode.InternalError, tooMany(maxSessions));
    },
    idleTimeout: serveProperties.idleTimeout.default,
  });
  let sessionClosed: Promise<void> | undefined;
  const { close } = serveStdio(
    ({ era }) => {
      if (era === 'modern') return createAgentServer(handles, source);
      // The client has a session, which plays one episode.
      const { server, closed } = createSessionServer(source);
      sessionClosed = closed;
      return server;
    },
    { transport },
  );
  const closed = new Promise<void>((resolve) => {
    const { onclose } = transport;
    transport.onclose = () => {
      onclose?.();
      Promise.all([sessionClosed, handles.episodes.close()]).then(() => resolve());
    };
  });
  return { closed, close };
}
