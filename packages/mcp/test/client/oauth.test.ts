/** Servers that want authorization by OAuth, with the authorization server of the SDK. */
import { once } from 'node:events';
import type { Server as HttpServer, IncomingMessage, ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { auth, type OAuthClientProvider } from '@modelcontextprotocol/client';
import { DemoInMemoryAuthProvider } from '@modelcontextprotocol/sdk/examples/server/demoInMemoryOAuthProvider.js';
import { requireBearerAuth } from '@modelcontextprotocol/sdk/server/auth/middleware/bearerAuth.js';
import { mcpAuthRouter } from '@modelcontextprotocol/sdk/server/auth/router.js';
import { createMcpExpressApp } from '@modelcontextprotocol/sdk/server/express.js';
import { Server } from '@modelcontextprotocol/sdk/server/index.js';
import { StreamableHTTPServerTransport } from '@modelcontextprotocol/sdk/server/streamableHttp.js';
import { CallToolRequestSchema, ListToolsRequestSchema } from '@modelcontextprotocol/sdk/types.js';
import { connectMcp } from '@toolenv/mcp';
import { afterEach, beforeEach, expect, test } from 'vitest';
import { context } from '../servers.ts';

let http: HttpServer;
let url: URL;

beforeEach(async () => {
  const app = createMcpExpressApp();
  http = app.listen(0, '127.0.0.1');
  await once(http, 'listening');
  const issuer = new URL(`http://localhost:${(http.address() as AddressInfo).port}`);
  url = new URL('/mcp', issuer);
  const provider = new DemoInMemoryAuthProvider();
  app.use(mcpAuthRouter({ provider, issuerUrl: issuer, resourceServerUrl: url }));
  const resourceMetadataUrl = new URL('/.well-known/oauth-protected-resource/mcp', issuer).href;
  app.all(
    '/mcp',
    requireBearerAuth({ verifier: provider, resourceMetadataUrl }),
    async (request: IncomingMessage & { body?: unknown }, response: ServerResponse) => {
      const server = new Server({ name: 'guarded', version: '1' }, { capabilities: { tools: {} } });
      server.setRequestHandler(ListToolsRequestSchema, () => ({
        tools: [{ name: 'whoami', inputSchema: { type: 'object' } }],
      }));
      server.setRequestHandler(CallToolRequestSchema, (_, { authInfo }) => ({
        content: [{ type: 'text', text: String(authInfo?.clientId) }],
      }));
      const transport = new StreamableHTTPServerTransport({ sessionIdGenerator: undefined });
      await server.connect(transport);
      await transport.handleRequest(request, response, request.body);
    },
  );
});
afterEach(() => {
  http.close();
  http.closeAllConnections();
});

/** A provider that keeps everything in memory, and the address to which it was sent. */
function memoryProvider() {
  const kept: Record<string, never> & { asked?: URL } = {};
  const keep = (name: string) => (value: unknown) => {
    Object.assign(kept, { [name]: value });
  };
  const provider: OAuthClientProvider = {
    redirectUrl: 'http://127.0.0.1:9/callback',
    clientMetadata: { redirect_uris: ['http://127.0.0.1:9/callback'], client_name: 'toolenv' },
    clientInformation: () => kept.client,
    saveClientInformation: keep('client'),
    tokens: () => kept.tokens,
    saveTokens: keep('tokens'),
    codeVerifier: () => kept.verifier!,
    saveCodeVerifier: keep('verifier'),
    redirectToAuthorization: keep('asked'),
  };
  return { provider, kept };
}

test('the user agrees once, then connections and calls are authorized', async () => {
  const { provider, kept } = memoryProvider();
  await expect(connectMcp({ url, authProvider: provider })).rejects.toMatchObject({
    code: 'usage.mcp_authorization',
    message: expect.stringContaining('let its user agree'),
  });
  // The user agrees: the authorization server sends the browser back with a code.
  const agreed = await fetch(kept.asked!, { redirect: 'manual' });
  const authorizationCode = new URL(agreed.headers.get('location')!).searchParams.get('code')!;
  expect(await auth(provider, { serverUrl: url, authorizationCode })).toBe('AUTHORIZED');

  for (let time = 0; time < 2; time++) {
    const connection = await connectMcp({ url, authProvider: provider });
    const { client_id } = kept.client as unknown as { client_id: string };
    expect(await connection.tools[0]!.execute({}, context())).toMatchObject({
      content: [{ text: client_id }],
    });
    await connection.close();
  }
});

test('without a provider, the error names the remedy', async () => {
  await expect(connectMcp({ url })).rejects.toMatchObject({
    code: 'usage.mcp_authorization',
    message: expect.stringContaining('give a header such as Authorization, or an authProvider'),
  });
});
