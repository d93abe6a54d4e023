/** `toolenv mcp`. The login itself is tested with the authorization server of the SDK, in `@toolenv/mcp`. */
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

it('says that there was no login', async () => {
  vi.stubEnv('XDG_CONFIG_HOME', '/nonexistent');
  expect(await runCli('mcp', 'logout', 'http://127.0.0.1:1/mcp')).toEqual({
    code: 0,
    stdout: 'There was no login at http://127.0.0.1:1/mcp.\n',
    stderr: '',
  });
});
