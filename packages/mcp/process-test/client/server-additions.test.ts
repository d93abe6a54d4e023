/** Variables, headers and the choice of tools that options add to an environment's servers. */
import { once } from 'node:events';
import { createServer, type IncomingHttpHeaders } from 'node:http';
import type { AddressInfo } from 'node:net';
import { type Action, openEnv } from '@toolenv/core';
import { connectMcp, defineMcpEnv, type McpEnvOptions, withAdditions } from '@toolenv/mcp';
import { afterEach, beforeEach, describe, expect, test } from 'vitest';
import { context, realServer } from '../../test/servers.ts';

beforeEach(() => {
  process.env.TOOLENV_TEST_KEY = 'sk-four-leaves';
});
afterEach(() => {
  delete process.env.TOOLENV_TEST_KEY;
});

const everything = realServer('everything');
const dollar = '$';
const reference = `${dollar}{TOOLENV_TEST_KEY}`;

describe('a value that names a variable', () => {
  test('in the environment of a process', async () => {
    const server = withAdditions(everything, { env: [`KEY=<${reference}>`, 'PLAIN=a=b'] });
    expect(server).toMatchObject({ env: { KEY: `<${reference}>`, PLAIN: 'a=b' } });
    const connection = await connectMcp(server, { only: ['get-env'] });
    const { content } = await connection.tools[0]!.execute({}, context());
    expect(JSON.parse(String((content[0] as { text: string }).text))).toMatchObject({
      KEY: '<sk-four-leaves>',
      PLAIN: 'a=b',
    });
    await connection.close();
  });

  test('in a header and a URL', async () => {
    const seen: { headers: IncomingHttpHeaders; url?: string }[] = [];
    const http = createServer(({ headers, url }, response) => {
      seen.push({ headers, url });
      response.writeHead(500).end(`enough of ${headers.authorization} at ${url}`);
    }).listen(0, '127.0.0.1');
    await once(http, 'listening');
    const url = `http://127.0.0.1:${(http.address() as AddressInfo).port}/mcp?key=${reference}`;
    const server = withAdditions({ url }, { header: [`Authorization: Bearer ${reference}`] });
    // The server repeats the header, and the error does not.
    await expect(connectMcp(server)).rejects.toThrow(
      'enough of [Authorization] at /mcp?key=[TOOLENV_TEST_KEY]:',
    );
    expect(seen[0]).toMatchObject({
      headers: { authorization: 'Bearer sk-four-leaves' },
      url: '/mcp?key=sk-four-leaves',
    });
    http.close();
  });

  test('in an argument, whose value no error shows', async () => {
    const script = `process.stderr.write('Error: no licence for ' + process.argv.slice(1).join()); process.exit(1)`;
    const server = {
      command: process.execPath,
      args: ['-e', script, reference, `${dollar}${reference}`, '--api-key', 'sk-clover'],
    };
    const failure = await connectMcp(server).catch((error: Error) => error.message);
    // The dollar sign before the reference makes it a text.
    expect(failure).toContain(`no licence for [TOOLENV_TEST_KEY],${reference},--api-key,[api-key]`);
    expect(failure).not.toContain('sk-four-leaves');
  });

  test('must be set', async () => {
    delete process.env.TOOLENV_TEST_KEY;
    await expect(connectMcp({ ...everything, env: { KEY: reference } })).rejects.toMatchObject({
      code: 'usage.mcp_variable',
      message: expect.stringContaining('needs the variable TOOLENV_TEST_KEY, which is not set: set it.'),
    });
  });
});

test('a text without a separator is refused', () => {
  expect(() => withAdditions(everything, { env: ['KEY'] })).toThrow('env "KEY": write it as NAME=value.');
  expect(() => withAdditions({ url: 'http://a' }, { header: ['Key'] })).toThrow(
    'header "Key": write it as Name: value.',
  );
});

describe('options of an environment', () => {
  const definition = defineMcpEnv({
    name: 'sums-v1',
    server: everything,
    only: ['get-sum', 'get-env'],
    tasks: [{ prompt: 'What is 1 + 1?', answer: '2' }],
  });

  async function play(options: Partial<McpEnvOptions>, calls: Action['toolCalls']) {
    await using env = await openEnv(definition, options);
    const episode = env.episode();
    const { tools } = await episode.reset({ task: await env.tasks.test.get(0)!, seed: 1 });
    const { observation } = await episode.step({ text: '', toolCalls: calls, stopReason: 'stop' } as Action);
    await episode.close();
    return { tools: tools.map(({ name }) => name), said: observation.messages.at(-1)!.content };
  }

  test('reach its server', async () => {
    const asked = [{ id: '1', name: 'get-env', arguments: {} }];
    const { said } = await play({ env: [`KEY=${reference}`] }, asked);
    expect(JSON.parse(said)).toMatchObject({ KEY: 'sk-four-leaves' });
  });

  test('narrow its tools, and do not widen them', async () => {
    const asked = [{ id: '1', name: 'get-env', arguments: {} }];
    const { tools, said } = await play({ only: ['get-sum'] }, asked);
    expect(tools).toEqual(['get-sum']);
    expect(said).toContain('get-env');
    expect(said).not.toContain('PATH');
    await expect(openEnv(definition, { only: ['echo'] })).rejects.toMatchObject({
      code: 'usage.mcp_tool',
      message: 'sums-v1 does not offer "echo": choose from get-sum, get-env.',
    });
  });
});
