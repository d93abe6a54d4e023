/** Attacks by the servers of models. */
import { once } from 'node:events';
import { createServer, type RequestListener } from 'node:http';
import type { AddressInfo } from 'node:net';
import { join } from 'node:path';
import type { Finished } from '../../../packages/cli/test/captured.ts';
import { startCli } from '../../../packages/cli/test/start-cli.ts';
import { type Attack, holds, within } from './attack.ts';

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
];

/** An evaluation of one episode with a model of the server, which must end within 20 seconds. */
async function evaluated(
  client: 'openai' | 'tinker',
  listener: RequestListener,
  ...more: string[]
): Promise<Finished> {
  const server = createServer(listener).listen(0, '127.0.0.1');
  await once(server, 'listening');
  const policy = `${client}:http://127.0.0.1:${(server.address() as AddressInfo).port}#m`;
  const tokens = client === 'tinker' ? ['--tokenizer', 'packages/tiny-policy/checkpoint'] : [];
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
