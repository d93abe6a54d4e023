/** Web pages in Chromium that play an environment with the official SDK: of an allowed origin, and of another. */
import { once } from 'node:events';
import { createServer, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { openEnv } from '@toolenv/core';
import { type McpService, serveMcp } from '@toolenv/mcp';
import { buildSync } from 'esbuild';
import { type Browser, chromium } from 'playwright-core';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { doors } from '../test/door-env.ts';

const token = 'a-token-of-at-least-16-characters';

/** Puts a function that plays an episode into the page, and returns what it has read. */
const client = buildSync({
  stdin: {
    contents: `import { Client } from '@modelcontextprotocol/sdk/client/index.js';
import { StreamableHTTPClientTransport } from '@modelcontextprotocol/sdk/client/streamableHttp.js';
globalThis.play = async (url, token) => {
  const requestInit = { headers: { authorization: 'Bearer ' + token } };
  const transport = new StreamableHTTPClientTransport(new URL(url), { requestInit });
  const client = new Client({ name: 'page', version: '1.0.0' });
  await client.connect(transport);
  const { content } = await client.callTool({ name: 'knock', arguments: {} });
  const { sessionId } = transport;
  await transport.terminateSession();
  return { text: content[0].text, hasSession: sessionId !== undefined };
};`,
    resolveDir: import.meta.dirname,
  },
  bundle: true,
  write: false,
  format: 'iife',
  logLevel: 'error',
}).outputFiles[0]!.text;

let browser: Browser;
let pages: Server;
let port: number;
beforeAll(async () => {
  const executablePath = process.env.CHROMIUM ?? '/usr/bin/chromium';
  browser = await chromium.launch({ executablePath, args: ['--no-sandbox'] });
  pages = createServer((_, response) => {
    response.setHeader('content-type', 'text/html').end(`<!doctype html><script>${client}</script>`);
  }).listen(0, '127.0.0.1');
  await once(pages, 'listening');
  ({ port } = pages.address() as AddressInfo);
});
afterAll(async () => {
  await browser.close();
  pages.close();
});

async function playAt(origin: string, service: McpService): Promise<unknown> {
  const page = await browser.newPage();
  await page.goto(origin);
  const played = page.evaluate(`play(${JSON.stringify(service.url)}, ${JSON.stringify(token)})`);
  return played.finally(() => page.close());
}

test('a page of an allowed origin plays, with a token and a session, and another page cannot', async () => {
  const env = await openEnv(doors);
  const allowed = `http://app.localhost:${port}`;
  const service = await serveMcp(env, { transport: { type: 'http', token, allowedOrigins: [allowed] } });
  expect(await playAt(allowed, service)).toEqual({ text: 'The door opens.', hasSession: true });
  await expect(playAt(`http://evil.localhost:${port}`, service)).rejects.toThrow('Failed to fetch');
  await service.close();
  await env.close();
}, 60_000);
