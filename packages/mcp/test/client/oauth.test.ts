/** Servers that want authorization by OAuth, with the authorization server of the SDK. */
import { once } from 'node:events';
import { mkdtemp, readdir, readFile, rm, stat } from 'node:fs/promises';
import type { Server as HttpServer, IncomingMessage, ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { auth, ClientCredentialsProvider, type OAuthClientProvider } from '@modelcontextprotocol/client';
import { DemoInMemoryAuthProvider } from '@modelcontextprotocol/sdk/examples/server/demoInMemoryOAuthProvider.js';
import { requireBearerAuth } from '@modelcontextprotocol/sdk/server/auth/middleware/bearerAuth.js';
import { mcpAuthRouter } from '@modelcontextprotocol/sdk/server/auth/router.js';
import { createMcpExpressApp } from '@modelcontextprotocol/sdk/server/express.js';
import { Server } from '@modelcontextprotocol/sdk/server/index.js';
import { StreamableHTTPServerTransport } from '@modelcontextprotocol/sdk/server/streamableHttp.js';
import { CallToolRequestSchema, ListToolsRequestSchema } from '@modelcontextprotocol/sdk/types.js';
import { connectMcp, loginMcp, logoutMcp } from '@toolenv/mcp';
import { afterEach, beforeEach, describe, expect, test, vi } from 'vitest';
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

test('without a provider, the error names the remedies', async () => {
  await expect(connectMcp({ url: `${url}?key=clover` })).rejects.toMatchObject({
    code: 'usage.mcp_authorization',
    message: expect.stringContaining(
      `log in with \`toolenv mcp login ${url}?key=[redacted]\`, or give a header such as Authorization (--header), or an authProvider`,
    ),
  });
});

test('a client that the authorization server does not know is an error of authorization', async () => {
  const authProvider = new ClientCredentialsProvider({
    clientId: 'nobody',
    clientSecret: 'wrong',
    expectedIssuer: url.origin,
  });
  await expect(connectMcp({ url, authProvider })).rejects.toMatchObject({
    code: 'usage.mcp_authorization',
    message: expect.stringMatching(/nvalid client/),
  });
});

describe('a login', () => {
  let folder: string;
  beforeEach(async () => {
    folder = await mkdtemp(join(tmpdir(), 'toolenv-login-'));
    vi.stubEnv('XDG_CONFIG_HOME', folder);
  });
  afterEach(() => rm(folder, { recursive: true }));

  /** The user agrees: the authorization server sends the browser back with a code. */
  const agree = (address: URL) => void fetch(address).catch(() => {});

  test('authorizes later connections, and its tokens are for the user alone', async () => {
    await loginMcp(url, { ask: agree, expectedIssuer: url.origin });
    const connection = await connectMcp({ url });
    expect(await connection.tools[0]!.execute({}, context())).toMatchObject({ content: [{ type: 'text' }] });
    await connection.close();

    const kept = join(folder, 'toolenv', 'mcp');
    const files = await readdir(kept);
    expect(files).toHaveLength(1);
    expect((await stat(join(kept, files[0]!))).mode & 0o777).toBe(0o600);
    expect((await stat(kept)).mode & 0o777).toBe(0o700);
    expect(JSON.parse(await readFile(join(kept, files[0]!), 'utf8'))).toMatchObject({
      url: url.href,
      tokens: { access_token: expect.any(String) },
    });
    // Another path of the same host gets no token.
    await expect(connectMcp({ url: new URL('/mcp?other', url) })).rejects.toMatchObject({
      code: 'usage.mcp_authorization',
    });
    expect(await logoutMcp(url)).toBe(true);
    await expect(connectMcp({ url })).rejects.toMatchObject({ code: 'usage.mcp_authorization' });
    expect(await logoutMcp(url)).toBe(false);
  });

  test('sends nothing to another authorization server than the expected one', async () => {
    const asked: URL[] = [];
    const ask = (address: URL) => void asked.push(address);
    await expect(loginMcp(url, { ask, expectedIssuer: 'https://auth.example' })).rejects.toMatchObject({
      code: 'usage.mcp_authorization',
      message: expect.stringContaining('https://auth.example is expected'),
    });
    expect(asked).toEqual([]);
  });

  test('ignores answers that are not its own', async () => {
    const statuses: number[] = [];
    const ask = async (address: URL) => {
      const callback = new URL(address.searchParams.get('redirect_uri')!);
      callback.search = '?code=stolen&state=guessed';
      for (const target of [callback.href, `${callback.origin}//`])
        statuses.push((await fetch(target)).status);
      agree(address);
    };
    await loginMcp(url, { ask });
    expect(statuses).toEqual([404, 404]);
    await logoutMcp(url);
  });

  test('ends with its signal', async () => {
    const reason = new Error('enough');
    const leave = new AbortController();
    const ask = () => leave.abort(reason);
    await expect(loginMcp(url, { ask, signal: leave.signal })).rejects.toBe(reason);
  });
});
