import { connectMcp, parseServer } from '@toolenv/mcp';
import fc from 'fast-check';
import { describe, expect, test, vi } from 'vitest';

describe('parseServer', () => {
  test.each([
    ['npx -y @scope/server /data', { command: 'npx', args: ['-y', '@scope/server', '/data'] }],
    ['  node\tserver.js\n', { command: 'node', args: ['server.js'] }],
    [`'my node' "a \\"b\\" c" d\\ e ''`, { command: 'my node', args: ['a "b" c', 'd e', ''] }],
    [`node --name='x y'z`, { command: 'node', args: ['--name=x yz'] }],
    ['node $HOME `x` ; rm *', { command: 'node', args: ['$HOME', '`x`', ';', 'rm', '*'] }],
    ['http://127.0.0.1:3000/mcp', { url: 'http://127.0.0.1:3000/mcp' }],
    [' HTTPS://host/mcp?key=1 ', { url: 'https://host/mcp?key=1' }],
  ])('%s', (text, server) => {
    expect(parseServer(text)).toEqual(server);
  });

  test.each([
    ['', 'usage.mcp_command', /No MCP server named/],
    [`node 'open`, 'usage.mcp_command', /has an unclosed '/],
    ['node "open', 'usage.mcp_command', /has an unclosed "/],
    ['node end\\', 'usage.mcp_command', /has an unclosed \\/],
    ['http://', 'usage.mcp_url', /give an http or https URL/],
  ])('%s is refused', (text, code, message) => {
    expect(() => parseServer(text)).toThrow(
      expect.objectContaining({ code, message: expect.stringMatching(message) }),
    );
  });

  test('parses words quoted for a shell', () => {
    const quote = (word: string) => `'${word.replaceAll("'", "'\\''")}'`;
    fc.assert(
      fc.property(fc.array(fc.string({ unit: 'binary' }), { minLength: 1 }), ([command, ...args]) => {
        fc.pre(!/^https?:\/\//i.test(quote(command!)));
        expect(parseServer([command!, ...args].map(quote).join(' '))).toEqual({ command, args });
      }),
    );
  });
});

test('errors name a server without the secrets of its URL', async () => {
  const failure = async (url: string) => String(await connectMcp({ url }).catch((error: Error) => error));
  const keyed = await failure('http://127.0.0.1:9/mcp?key=secret');
  expect(keyed).toContain('MCP server http://127.0.0.1:9/mcp cannot be used');
  expect(keyed).not.toContain('secret');
  const signed = await failure('http://user:secret@127.0.0.1:9/mcp');
  expect(signed).toContain('The URL of 127.0.0.1:9 contains credentials: send them in a header instead.');
  expect(signed).not.toContain('secret');
});

test.each([
  ['--api-key sk-4 --port 80', '--api-key [redacted] --port 80'],
  ['--dbPassword=sk-4 --verbose', '--dbPassword=[redacted] --verbose'],
  ['--token --verbose', '--token --verbose'],
  ["--header 'Authorization: Bearer sk-4'", '--header Authorization: [redacted]'],
  ['postgres://me:sk-4@host/notes', 'postgres://me:[redacted]@host/notes'],
  ["'https://host/mcp?page=2&api_key=sk-4#top'", 'https://host/mcp?page=2&api_key=[redacted]#top'],
  ['ghp_0123456789abcdefghij /data', '[redacted] /data'],
  ['--key @{KEY} --path /tmp/keys', '--key @{KEY} --path /tmp/keys'],
])('errors name a server started with %s as %s', async (given, shown) => {
  // An at sign stands for a dollar sign, which TypeScript and Biome read as a template.
  const dollars = (text: string) => text.replace('@{', '\x24{');
  vi.stubEnv('KEY', 'sk-4');
  const server = parseServer(dollars(`no-such-command ${given}`));
  await expect(connectMcp(server)).rejects.toThrow(`\`no-such-command ${dollars(shown)}\` cannot be run`);
});
