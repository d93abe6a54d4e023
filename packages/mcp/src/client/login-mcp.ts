/** loginMcp: the user agrees in a browser that toolenv may use an MCP server (OAuth 2.1, RFC 8252). */
import { randomBytes } from 'node:crypto';
import { once } from 'node:events';
import { createServer, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { auth, extractWWWAuthenticateParams } from '@modelcontextprotocol/client';
import { asClause, messageOf, ToolEnvError } from '@toolenv/core';
import { untilAborted } from '@toolenv/core/tools';
import { requestUrl } from '@toolenv/serving';
import { describeServer, toUrl } from './mcp-server.ts';
import { type McpLogin, StoredLogin } from './stored-login.ts';

/**
 * Logs in, and keeps the tokens in a file that only this user can read. `connectMcp` sends them to this URL from then on, and
 * refreshes them.
 * @throws ToolEnvError `usage.mcp_url`; `usage.mcp_authorization` if the login fails; the reason of `signal`.
 */
export async function loginMcp(url: string | URL, login: McpLogin): Promise<void> {
  const { scope, port = 0, signal, ...options } = login;
  const serverUrl = toUrl(url);
  const state = randomBytes(16).toString('hex');
  const browser = createServer();
  browser.listen(port, '127.0.0.1');
  try {
    await once(browser, 'listening');
    const { port: bound } = browser.address() as AddressInfo;
    const redirectUrl = `http://127.0.0.1:${bound}/callback`;
    const provider = new StoredLogin(serverUrl, { ...options, redirectUrl, state });
    // The port of an earlier login is not that of this one, so its client would be refused.
    await provider.forget();
    const answered = answerOf(browser, state);
    answered.catch(() => {});
    const asked = await challengeOf(serverUrl, signal);
    const first = { serverUrl, ...asked, ...(scope !== undefined && { scope }) };
    if ((await auth(provider, first)) === 'AUTHORIZED') return;
    const { code, iss } = await untilAborted(signal, () => answered);
    await auth(provider, { ...first, authorizationCode: code, ...(iss !== undefined && { iss }) });
  } catch (error) {
    if (ToolEnvError.isInstance(error) || signal?.aborted) throw error;
    const message = `Login at ${describeServer({ url: serverUrl })} failed: ${asClause(messageOf(error))}: try again, or give --header.`;
    throw new ToolEnvError('usage.mcp_authorization', message, { cause: error });
  } finally {
    browser.close();
    browser.closeAllConnections();
  }
}

/** Forgets a login. @returns Whether there was one. */
export function logoutMcp(url: string | URL): Promise<boolean> {
  return new StoredLogin(url).forget();
}

/** What a server says when it refuses a request: where its metadata are, and which scope it wants (RFC 9728, §5.1). */
async function challengeOf(url: URL, signal: AbortSignal | undefined) {
  const response = await fetch(url, { ...(signal && { signal }), headers: { accept: 'text/event-stream' } });
  await response.body?.cancel();
  const { resourceMetadataUrl, scope } = extractWWWAuthenticateParams(response);
  return { ...(resourceMetadataUrl && { resourceMetadataUrl }), ...(scope !== undefined && { scope }) };
}

/** What the browser brings. An answer with another state is not of this login. */
function answerOf(browser: Server, state: string): Promise<{ code: string; iss?: string }> {
  return new Promise((resolve, reject) => {
    browser.on('request', (request, response) => {
      const { pathname, searchParams: said } = requestUrl(request);
      const isOwn = pathname === '/callback' && said.get('state') === state;
      const code = said.get('code');
      const text = !isOwn
        ? 'This is not the login.'
        : code
          ? 'You are logged in. Close this page.'
          : 'The login failed.';
      response.writeHead(isOwn ? 200 : 404, { 'content-type': 'text/plain', connection: 'close' }).end(text);
      if (!isOwn) return;
      const iss = said.get('iss');
      if (code) resolve({ code, ...(iss !== null && { iss }) });
      else
        reject(new Error(`the authorization server says ${JSON.stringify(said.get('error') ?? 'nothing')}`));
    });
  });
}
