/** Attacks by clients of an environment that is served over HTTP. */
import { once } from 'node:events';
import { request } from 'node:http';
import { connect } from 'node:net';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { fixture } from '../../../packages/cli/test/fixture.ts';
import { startCli } from '../../../packages/cli/test/start-cli.ts';
import { type Attack, holds, within } from './attack.ts';

const single = join(import.meta.dirname, 'single-env.ts');
const mortal = join(import.meta.dirname, 'mortal-env.ts');
const token = 'a-token-of-more-than-16-characters';

export const serving: Attack[] = [
  {
    name: 'vanished client',
    attack: 'a client of an environment of one episode vanishes without a word',
    expected: 'another client can begin within 15 seconds',
    run: () =>
      served(single, [], async (port) => {
        const first = await begin(port);
        holds(first.status === 200, `the first client got status ${first.status}`);
        await listenAndVanish(port, first.session!);
        await within(15_000, canBegin(port));
      }),
  },
  {
    name: 'idle session',
    attack: 'the only client of an environment of one episode does nothing; --idle-timeout is 1 s',
    expected: 'another client can begin within 10 seconds',
    run: () =>
      served(single, ['--idle-timeout', '1'], async (port) => {
        await begin(port);
        await within(10_000, canBegin(port));
      }),
  },
  {
    name: 'too many sessions',
    attack: 'three clients begin sessions; --max-sessions is 2',
    expected: 'the third client gets status 503',
    run: () =>
      served(fixture.env, ['--max-sessions', '2'], async (port) => {
        const statuses = [await begin(port), await begin(port), await begin(port)].map(
          ({ status }) => status,
        );
        holds(statuses.join() === '200,200,503', `statuses ${statuses.join()}`);
      }),
  },
  {
    name: 'half-sent body',
    slow: true,
    attack: 'a client sends half of a body and then nothing',
    expected: 'its connection ends within 45 seconds, and others are served meanwhile',
    run: () =>
      served(fixture.env, [], async (port) => {
        const socket = connect(port, '127.0.0.1');
        socket.on('error', () => {});
        socket.write(
          `POST /mcp HTTP/1.1\r\nhost: 127.0.0.1:${port}\r\ncontent-type: application/json\r\naccept: application/json, text/event-stream\r\ncontent-length: 1000\r\n\r\n{"jsonrpc":`,
        );
        const { status } = await begin(port);
        holds(status === 200, `another client got status ${status}`);
        socket.resume();
        await within(45_000, once(socket, 'close'));
      }),
  },
  {
    name: 'huge body',
    slow: true,
    attack: 'a client sends a body of 200 MB',
    expected: 'it is refused, and others are served',
    run: () =>
      served(fixture.env, [], async (port) => {
        const refused = await send(port, { body: Buffer.alloc(200 * 2 ** 20, ' ') }).catch(() => ({
          status: 0,
        }));
        holds(refused.status === 0 || refused.status >= 400, `status ${refused.status}`);
        const { status } = await begin(port);
        holds(status === 200, `another client got status ${status}`);
      }),
  },
  {
    name: 'silent connections',
    attack: 'a client opens 200 connections and says nothing; --max-sessions is 1',
    expected: 'others are served at once',
    run: () =>
      served(fixture.env, ['--max-sessions', '1'], async (port) => {
        const silent = Array.from({ length: 200 }, () => connect(port, '127.0.0.1').on('error', () => {}));
        await Promise.all(silent.slice(0, 100).map((socket) => once(socket, 'connect')));
        const { status } = await within(5_000, begin(port));
        holds(status === 200, `another client got status ${status}`);
        for (const socket of silent) socket.destroy();
      }),
  },
  {
    name: 'odd request',
    attack: 'a client asks for // and for *',
    expected: 'it is refused, and others are served',
    run: () =>
      served(fixture.env, [], async (port) => {
        for (const path of ['//', '*']) {
          const { status } = await send(port, { body: initialize, path });
          holds(status >= 400 && status < 500, `status ${status} for ${path}`);
        }
        const { status } = await begin(port);
        holds(status === 200, `another client got status ${status}`);
      }),
  },
  {
    name: 'deep body',
    attack: 'a client sends JSON of 100,000 levels',
    expected: 'it is refused, and others are served',
    run: () =>
      served(fixture.env, [], async (port) => {
        await send(port, { body: `${'['.repeat(100_000)}${']'.repeat(100_000)}` }).catch(() => {});
        const { status } = await begin(port);
        holds(status === 200, `another client got status ${status}`);
      }),
  },
  {
    name: 'other machines without a token',
    attack: 'a user serves on 0.0.0.0 without --token, and a client sends no token',
    expected: 'the client gets status 401, because the server makes a token of its own',
    run: () =>
      served(fixture.env, ['--host', '0.0.0.0'], async (port) => {
        const { status } = await begin(port);
        holds(status === 401, `status ${status}`);
      }),
  },
  {
    name: 'wrong token',
    attack: 'clients send no token, a wrong token and the right token',
    expected: 'only the last client is served',
    run: () =>
      served(fixture.env, ['--host', '0.0.0.0', '--token', token], async (port) => {
        const statuses: number[] = [];
        for (const authorization of [undefined, `Bearer ${token}x`, `Bearer ${token}`])
          statuses.push((await begin(port, authorization ? { authorization } : {})).status);
        holds(statuses.join() === '401,401,200', `statuses ${statuses.join()}`);
      }),
  },
  {
    name: 'other host',
    attack: 'a request names the host evil.example, as with DNS rebinding',
    expected: 'it gets status 403, unless --allowed-host names the host',
    async run() {
      const evil = { host: 'evil.example' };
      await served(fixture.env, [], async (port) => {
        const { status } = await begin(port, evil);
        holds(status === 403, `status ${status}`);
      });
      await served(fixture.env, ['--allowed-host', 'evil.example'], async (port) => {
        const { status } = await begin(port, evil);
        holds(status === 200, `status ${status} although the host is allowed`);
      });
    },
  },
  {
    name: 'other origin',
    attack: 'a web page of https://evil.example, or of another port of this machine, sends a request',
    expected: 'it gets status 403, unless --allowed-origin names the origin',
    async run() {
      const evil = { origin: 'https://evil.example' };
      await served(fixture.env, [], async (port) => {
        for (const origin of [evil.origin, `http://localhost:${port + 1}`, `http://127.0.0.1:${port + 1}`]) {
          const { status } = await begin(port, { origin });
          holds(status === 403, `status ${status} for ${origin}`);
        }
        const { status } = await begin(port, { origin: `http://127.0.0.1:${port}` });
        holds(status === 200, `status ${status} for the own origin`);
      });
      await served(fixture.env, ['--allowed-origin', 'https://evil.example'], async (port) => {
        const { status } = await begin(port, evil);
        holds(status === 200, `status ${status} although the origin is allowed`);
      });
    },
  },
  {
    name: 'crashed server',
    attack: 'an agent makes the MCP server of its environment die',
    expected: 'it learns a code, and neither the command line nor the stderr of that server',
    run: () =>
      served(mortal, [], async (port) => {
        const { session } = await begin(port);
        const params = { name: 'work', arguments: { what: 'dies' } };
        const { text } = await send(port, {
          body: JSON.stringify({ jsonrpc: '2.0', id: 3, method: 'tools/call', params }),
          headers: { 'mcp-session-id': session!, 'mcp-protocol-version': '2025-06-18' },
        });
        holds(text.includes('infrastructure.mcp_closed') && !text.includes('clover'), text);
      }),
  },
  {
    name: 'port that is taken',
    attack: 'another process has the port',
    expected: 'it is refused in one line',
    run: () =>
      served(fixture.env, [], async (port) => {
        const { code, stderr } = await startCli(['serve', fixture.env, '--http', String(port)]).finished;
        holds(code === 2 && stderr.trim().split('\n').length === 1, `exit code ${code}: ${stderr}`);
      }),
  },
];

/** Serves the environment while `use` runs, and checks that the server has not died. */
async function served(env: string, flags: string[], use: (port: number) => Promise<void>): Promise<void> {
  const { child, finished } = startCli(['serve', env, '--http', '0', ...flags]);
  try {
    const port = await within(
      30_000,
      new Promise<number>((resolve, reject) => {
        let said = '';
        child.stderr!.on('data', (text: string) => {
          said += text;
          const found = /served at http:\/\/\S+?:(\d+)\/mcp/.exec(said);
          if (found) resolve(Number(found[1]));
        });
        void finished.then(({ stderr }) => reject(new Error(`the server ended: ${stderr}`)));
      }),
    );
    await use(port);
    holds(child.exitCode === null, 'the server died');
  } finally {
    child.kill('SIGKILL');
    await finished;
  }
}

interface Answer {
  status: number;
  session?: string;
}

const initialize = JSON.stringify({
  jsonrpc: '2.0',
  id: 1,
  method: 'initialize',
  params: {
    protocolVersion: '2025-06-18',
    capabilities: {},
    clientInfo: { name: 'attacker', version: '1.0.0' },
  },
});

/** Begins a session and an episode. */
async function begin(port: number, headers: Record<string, string> = {}): Promise<Answer> {
  const begun = await send(port, { body: initialize, headers });
  if (begun.status !== 200 || !begun.session) return begun;
  const list = { jsonrpc: '2.0', id: 2, method: 'tools/list' };
  const session = { ...headers, 'mcp-session-id': begun.session, 'mcp-protocol-version': '2025-06-18' };
  await send(port, {
    body: JSON.stringify({ jsonrpc: '2.0', method: 'notifications/initialized' }),
    headers: session,
  });
  const listed = await send(port, { body: JSON.stringify(list), headers: session });
  const { session: id } = begun;
  return { session: id, status: listed.text.includes('"error":') ? 500 : listed.status };
}

/** Opens the stream of a session, as clients do, and breaks the connection. */
async function listenAndVanish(port: number, session: string): Promise<void> {
  const headers = { accept: 'text/event-stream', 'mcp-session-id': session };
  const stream = request({ host: '127.0.0.1', port, path: '/mcp', method: 'GET', headers });
  stream.on('error', () => {});
  stream.end();
  await within(10_000, once(stream, 'response'));
  stream.destroy();
}

async function canBegin(port: number): Promise<void> {
  while ((await begin(port)).status !== 200) await sleep(250);
}

function send(
  port: number,
  {
    body,
    headers = {},
    path = '/mcp',
  }: { body: string | Buffer; headers?: Record<string, string>; path?: string },
): Promise<Answer & { text: string }> {
  return new Promise((resolve, reject) => {
    const sent = request(
      {
        host: '127.0.0.1',
        port,
        path,
        method: 'POST',
        headers: {
          'content-type': 'application/json',
          accept: 'application/json, text/event-stream',
          ...headers,
        },
      },
      (response) => {
        let text = '';
        response.setEncoding('utf8').on('data', (chunk: string) => {
          text += chunk;
        });
        response.once('error', reject);
        response.once('end', () => {
          const session = response.headers['mcp-session-id'];
          resolve({ status: response.statusCode!, session: session?.toString(), text });
        });
      },
    );
    sent.once('error', reject);
    sent.setTimeout(20_000, () => sent.destroy(new Error('no answer within 20 s')));
    sent.end(body);
  });
}
