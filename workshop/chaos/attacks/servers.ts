/** Attacks by the model servers. */
import { once } from 'node:events';
import { createServer, type RequestListener, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { join } from 'node:path';
import { pipeline } from 'node:stream/promises';
import { openEnv } from '@toolenv/core';
import { connectMcp } from '@toolenv/mcp';
import type { Finished } from '../../../packages/cli/test/captured.ts';
import { startCli } from '../../../packages/cli/test/start-cli.ts';
import { type Attack, holds, thrown, within } from './attack.ts';

export const servers: Attack[] = [
  ...(['openai', 'tinker'] as const).map(
    (client): Attack => ({
      name: `silent server of ${client}, deadline`,
      slow: client === 'tinker',
      attack: `a model server of ${client} accepts and never answers; --deadline is 1 s`,
      expected: 'the command ends after the deadline with one line',
      async run() {
        const { code, stderr } = await evaluated(client, () => {}, '--deadline', '1000');
        holds(code === 1 && / in 1 s.*raise --deadline\.\n$/.test(stderr), `exit code ${code}: ${stderr}`);
      },
    }),
  ),
  {
    name: 'dripping server',
    attack: 'a model server sends a byte every tenth of a second, for ever; --request-timeout is 1 s',
    expected: 'the episode is aborted after the timeout, and the command ends',
    async run() {
      const drips: RequestListener = (request, response) => {
        response.writeHead(200, { 'content-type': 'application/json' });
        if (request.method === 'GET') return response.end('{"data": [{"id": "m"}]}');
        const timer = setInterval(() => response.write(' '), 100);
        return response.on('close', () => clearInterval(timer));
      };
      const limits = ['--request-timeout', '1', '--request-retries', '0', '--retries', '0'];
      const { code, stderr } = await evaluated('openai', drips, ...limits);
      holds(code === 1 && stderr.includes('no whole reply in 1 s'), `exit code ${code}: ${stderr}`);
    },
  },
  ...(['openai', 'tinker'] as const).map(
    (client): Attack => ({
      name: `endless answer of a server of ${client}`,
      attack: `a model server of ${client} answers its first request with 1.5 GB`,
      expected: 'the command ends after 64 MiB with one line',
      alone: true,
      async run() {
        let sent = 0;
        const listener: RequestListener = async (_, response) => {
          sent = await pour(response, '{"data": [{"id": "');
        };
        const { code, stderr } = await evaluated(
          client,
          listener,
          '--request-retries',
          '0',
          '--retries',
          '0',
        );
        const isOne = /^[^\n]*more than 67108864 bytes[^\n]*\n$/.test(stderr);
        holds(
          code !== 0 && isOne && sent < 200,
          `exit code ${code} after ${sent} MiB: ${stderr.slice(0, 500)}`,
        );
      },
    }),
  ),
  {
    name: 'endless answers of servers of tools',
    attack: 'a server of OpenEnv and a server of MCP answer their first request with 1.5 GB',
    expected: 'neither opens, and each error names the limit',
    alone: true,
    async run() {
      for (const open of [(url: string) => openEnv(`openenv:${url}`), (url: string) => connectMcp({ url })]) {
        const sizes: number[] = [];
        const server = createServer(async (_, response) => {
          sizes.push(await pour(response, '{"jsonrpc": "2.0", "id": 0, "result": "'));
        }).listen(0, '127.0.0.1');
        await once(server, 'listening');
        const url = `http://127.0.0.1:${(server.address() as AddressInfo).port}/`;
        const error = await within(
          60_000,
          thrown(async () => await open(url)),
        );
        server.closeAllConnections();
        server.close();
        holds(String(error).includes('more than 67108864 bytes'), `it says ${String(error).slice(0, 300)}`);
        holds(process.memoryUsage.rss() < 2 ** 31, `it takes ${process.memoryUsage.rss()} bytes of memory`);
        holds(
          sizes.every((size) => size < 200),
          `it read ${sizes} MiB`,
        );
      }
    },
  },
];

/** Answers with JSON of 1.5 GB, as fast as it is read. Returns how many MiB were taken. */
async function pour(response: ServerResponse, head: string): Promise<number> {
  response.writeHead(200, { 'content-type': 'application/json' }).write(head);
  let sent = 0;
  const mib = 'x'.repeat(2 ** 20);
  const chunks = function* () {
    for (; sent < 1536; sent++) yield mib;
  };
  // The reader leaves.
  await pipeline(chunks, response).catch(() => {});
  return sent;
}

/** An evaluation of one episode with a model of the server, which must end within 20 seconds. */
async function evaluated(
  client: 'openai' | 'tinker',
  listener: RequestListener,
  ...more: string[]
): Promise<Finished> {
  const server = createServer(listener).listen(0, '127.0.0.1');
  await once(server, 'listening');
  const policy = `${client}:http://127.0.0.1:${(server.address() as AddressInfo).port}#m`;
  const tokens = client === 'tinker' ? ['--tokenizer', 'packages/checkpoints/tiny'] : [];
  const args = ['eval', '@toolenv/envs-classic/arithmetic-v1', '--policy', policy, ...tokens, '--count', '1'];
  const { child, finished } = startCli([...args, ...more], join(import.meta.dirname, '../../..'));
  try {
    return await within(20_000, finished);
  } finally {
    child.kill('SIGKILL');
    server.close();
    server.closeAllConnections();
  }
}
