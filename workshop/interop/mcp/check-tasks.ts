/** `npm run interop -- mcp-tasks`: `connectMcp` calls tools of FastMCP that run as tasks, over stdio and Streamable HTTP. */
import { createRng } from '@toolenv/core';
import { connectMcp, type McpEndpoint } from '@toolenv/mcp';
import { expect, namesOf, read } from './model-view.ts';
import { overHttp, pythonPeer } from './peers.ts';

/** @param python Has the packages of mcp-tasks.txt. */
export async function checkTasks(python: string): Promise<void> {
  const peer = pythonPeer(python, 'tasks.py');
  await checkServer('FastMCP over stdio', peer);
  await overHttp(peer, (server) => checkServer('FastMCP over HTTP', server));
}

async function checkServer(title: string, server: McpEndpoint): Promise<void> {
  const connection = await connectMcp(server, {
    onElicit: () => ({ action: 'accept', content: { name: 'Ada' } }),
  });
  try {
    expect(`${title}: lists its tools`, namesOf(connection), ['asks', 'fails', 'quick', 'slow']);
    expect(`${title}: a call that is no task`, await read(connection, 'quick', {}), 'quick');
    expect(
      `${title}: a task of half a second`,
      await read(connection, 'slow', { seconds: 0.5 }),
      'slept 0.5',
    );
    expect(`${title}: a task that fails`, await read(connection, 'fails', {}), /no disk/);
    expect(`${title}: a task that asks`, await read(connection, 'asks', {}), 'hello Ada');
    const slow = connection.tools.find(({ name }) => name === 'slow')!;
    const context = { rng: createRng(1, 'tasks'), episodeId: 'interop', callIndex: 0 };
    const begun = performance.now();
    const ended = slow.execute({ seconds: 60 }, { ...context, signal: AbortSignal.timeout(500) });
    expect(`${title}: a task that is given up`, await ended.then(String, ({ name }) => name), 'TimeoutError');
    expect(`${title}: and left at once`, performance.now() - begun < 5_000, true);
    expect(`${title}: still answers`, await read(connection, 'quick', {}), 'quick');
  } finally {
    await connection.close();
  }
}
