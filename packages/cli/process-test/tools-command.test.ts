/** `toolenv tools` with a real MCP server. */
import { execFileSync } from 'node:child_process';
import { createRequire } from 'node:module';
import { dirname, join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { runCli } from '../test/run-cli.ts';
import { startCli } from '../test/start-cli.ts';

const json = createRequire(import.meta.url).resolve('@modelcontextprotocol/server-everything/package.json');
const server = `'${process.execPath}' '${join(dirname(json), 'dist', 'index.js')}'`;
const tools = (...args: string[]) => runCli('tools', '--mcp', server, ...args);

describe('toolenv tools', () => {
  it('lists for people and as JSON', async () => {
    const text = await tools();
    expect(text).toMatchObject({ code: 0, stderr: '' });
    expect(text.stdout).toMatch(/^get-sum\(a, b\) +Returns the sum of two numbers$/m);
    expect(text.stdout).toMatch(/^get-resource-links\(count\?\) /m);
    const { code, stdout } = await tools('--json');
    expect(code).toBe(0);
    const listed: { name: string; inputSchema: object }[] = JSON.parse(stdout);
    expect(listed.find(({ name }) => name === 'get-sum')).toMatchObject({
      description: 'Returns the sum of two numbers',
      inputSchema: { required: ['a', 'b'] },
    });
  });

  it('calls', async () => {
    const call = ['--call', 'get-sum', '--arguments', '{"a": 1, "b": 2}'];
    expect(await tools(...call)).toEqual({ code: 0, stdout: 'The sum of 1 and 2 is 3.\n', stderr: '' });
    const { stdout } = await tools(...call, '--json');
    expect(JSON.parse(stdout)).toEqual({ content: [{ type: 'text', text: 'The sum of 1 and 2 is 3.' }] });
  });

  it('says what an image is, and passes on the variables it is given', async () => {
    expect((await tools('--call', 'get-tiny-image')).stdout).toContain('[image image/png 4033 bytes]');
    const { stdout } = await tools('--call', 'get-env', '--env', 'GIVEN=on purpose');
    expect(JSON.parse(stdout)).toMatchObject({ GIVEN: 'on purpose' });
  });

  it.each([
    [['--call', 'get_sum'], /^toolenv: The server has no tool "get_sum"\. Did you mean "get-sum"\?\n$/],
    [
      ['--call', 'get-sum', '--arguments', '{"a": "x", "b": 2}'],
      /^toolenv: --arguments\/a: expected must be number; received "x"\. Arguments of "get-sum" follow \{.*\}\.\n$/,
    ],
    [['--call', 'get-sum', '--arguments', '[1'], /^toolenv: --arguments \[1: give a JSON object/],
    [['--arguments', '{}'], /^toolenv: --arguments without --call: name the tool to call\.\n$/],
    [['--call-timeout', 'long'], /^toolenv: --call-timeout long: give a number above 0/],
    [['--mcp', 'no-such-command'], /^toolenv: MCP server `no-such-command` cannot be run: .*ENOENT/],
    [['--mcp', 'http//host'], /^toolenv: MCP server `http\/\/host` cannot be run/],
  ])('%s is one line, with exit code 2', async (args, message) => {
    const { code, stdout, stderr } = await tools(...args);
    expect(stderr).toMatch(message);
    expect({ code, stdout }).toEqual({ code: 2, stdout: '' });
  });

  it('prints what a tool refused as JSON, with exit code 2', async () => {
    const args = ['--call', 'get-resource-reference', '--arguments', '{"resourceId": 0}'];
    const { code, stdout, stderr } = await tools(...args, '--json');
    expect(code).toBe(2);
    expect(JSON.parse(stdout)).toMatchObject({ isError: true });
    expect(stderr).toMatch(
      /^toolenv: Tool "get-resource-reference" says that the call failed: .*positive integer/,
    );
  });

  it('a server that is not there is exit code 1', async () => {
    const { code, stderr } = await tools('--mcp', 'http://127.0.0.1:9/mcp');
    expect(stderr).toMatch(/^toolenv: MCP server http:\/\/127\.0\.0\.1:9\/mcp cannot be used: .*\n$/);
    expect(code).toBe(1);
  });

  it('Ctrl-C is exit code 130, and ends the server', async () => {
    const call = ['--call', 'trigger-long-running-operation', '--arguments', '{"duration": 60}'];
    const { child, finished } = startCli(['tools', '--mcp', server, ...call]);
    const serverPid = () => {
      const processes = execFileSync('ps', ['-eo', 'ppid=,pid=,args='], {
        encoding: 'utf8',
        maxBuffer: 2 ** 28,
      }).split('\n');
      const own = new RegExp(`^\\s*${child.pid} +(\\d+) .*server-everything`);
      return processes.map((line) => own.exec(line)?.[1]).find((pid) => pid !== undefined);
    };
    await expect.poll(serverPid, { timeout: 30_000 }).toBeDefined();
    const pid = Number(serverPid());
    child.kill('SIGINT');
    const { code, stderr } = await finished;
    expect({ code, stderr }).toEqual({ code: 130, stderr: '\nStopping… (once more to quit at once)\n' });
    expect(() => process.kill(pid, 0)).toThrow('ESRCH');
  });
});
