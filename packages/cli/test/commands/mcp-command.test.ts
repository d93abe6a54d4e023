/** `toolenv mcp`. The login itself is tested with the authorization server of the SDK, in `@toolenv/mcp`. */
import { once } from 'node:events';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { expect, it, vi } from 'vitest';
import { runCli } from '../run-cli.ts';

it.each([
  [['enter', 'http://127.0.0.1:9/mcp'], 'toolenv: toolenv mcp enter: give login or logout, and a URL.\n'],
  [['login', 'ftp://host'], 'toolenv: "ftp://host" is not an MCP server: give an http or https URL'],
  [['login', 'http://127.0.0.1:1/mcp'], 'toolenv: Login at MCP server http://127.0.0.1:1/mcp failed: '],
])('refuses %s in one line', async (args, message) => {
  vi.stubEnv('XDG_CONFIG_HOME', '/nonexistent');
  const { code, stdout, stderr } = await runCli('mcp', ...args);
  expect({ code, stdout }).toEqual({ code: 2, stdout: '' });
  expect(stderr).toContain(message);
  expect(stderr.trim().split('\n')).toHaveLength(1);
});

it('asks no other authorization server than that of --expected-issuer', async () => {
  vi.stubEnv('XDG_CONFIG_HOME', '/nonexistent');
  const server = createServer(({ url, headers: { host } }, response) => {
    const issuer = `http://${host}`;
    const metadata = url!.includes('protected-resource')
      ? { resource: `${issuer}/mcp`, authorization_servers: [issuer] }
      : {
          issuer,
          authorization_endpoint: `${issuer}/authorize`,
          token_endpoint: `${issuer}/token`,
          response_types_supported: ['code'],
        };
    response.setHeader('content-type', 'application/json').end(JSON.stringify(metadata));
  }).listen(0, '127.0.0.1');
  await once(server, 'listening');
  const origin = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
  const flags = ['--expected-issuer', 'https://auth.example'];
  const { code, stderr } = await runCli('mcp', 'login', `${origin}/mcp`, ...flags);
  server.close();
  expect({ code, stderr }).toEqual({
    code: 2,
    stderr: `toolenv: The server names the authorization server ${origin}, and https://auth.example is expected: nothing was sent to it.\n`,
  });
});

it('says that there was no login', async () => {
  vi.stubEnv('XDG_CONFIG_HOME', '/nonexistent');
  expect(await runCli('mcp', 'logout', 'http://127.0.0.1:1/mcp')).toEqual({
    code: 0,
    stdout: 'There was no login at http://127.0.0.1:1/mcp.\n',
    stderr: '',
  });
});
