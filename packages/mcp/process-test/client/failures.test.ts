/** What errors say of a server that fails: the first failure, and the last error of its stderr that explains it. */
import { join } from 'node:path';
import { connectMcp, type McpOptions } from '@toolenv/mcp';
import { describe, expect, test } from 'vitest';
import { context } from '../../test/servers.ts';

const script = join(import.meta.dirname, '../../test/failing-server.js');

function connect(way: string, options: McpOptions = {}) {
  return connectMcp({ command: process.execPath, args: [script, way] }, { closeGrace: 5_000, ...options });
}

async function messageOf(failing: Promise<unknown>): Promise<string> {
  const { message } = await failing.then(
    () => new Error('it worked'),
    (error: Error) => error,
  );
  return message;
}

describe('a server that ends at its start', () => {
  test.each([
    ['after a long traceback of Python', 'python', 'store.SettingsError: DATABASE_URL is not set'],
    ['and logs after its error', 'logs-after', 'store.SettingsError: DATABASE_URL is not set'],
    ['after a long stack of Node', 'node', 'Error: no store (Error: connect ECONNREFUSED 127.0.0.1:5432)'],
    ['under npm', 'npm', 'Error: no licence'],
  ])('%s', async (_, way, error) => {
    expect(await messageOf(connect(way))).toMatch(
      `\` cannot be used: it exited with code 1; its stderr says: ${error}: check the server and how it is started.`,
    );
  });
});

test('a server that never answers is quoted too', async () => {
  const silence =
    'did not answer within 1.5 s; its stderr says: store.SettingsError: DATABASE_URL is not set: raise';
  expect(await messageOf(connect('waits', { connectTimeout: 1_500, closeGrace: 100 }))).toContain(silence);
});

test('a server that refuses to connect: its own error, and not what closing its input causes', async () => {
  const message = await messageOf(connect('refuses', { initialize: true }));
  expect(message).toContain('Internal error; its stderr says: store.LicenceError: expired yesterday: check');
});

describe('a server that fails in a call', () => {
  test('ends after it has stopped to read: how it ended, and not the broken pipe', async () => {
    const connection = await connect('stops');
    const [fail] = connection.tools;
    const first = fail!.execute({}, context());
    const why =
      'it exited with code 4; its stderr says: store.SettingsError: DATABASE_URL is not set: connect again.';
    // The second call meets the closed pipe while the process still runs.
    await new Promise((resolve) => setTimeout(resolve, 60));
    const second = fail!.execute({}, context());
    for (const call of [first, second]) expect(await messageOf(call)).toContain(why);
    expect(connection.lost?.message).toContain(why);
    await connection.close();
  });

  test('sends too much: that, and not the exit that closing causes', async () => {
    const connection = await connect('shouts');
    const message = await messageOf(connection.tools[0]!.execute({}, context()));
    expect(message).toContain('it sent a message that is too long (it has more than 10485760 bytes)');
    expect(message).not.toMatch(/exited|input has ended/);
    await connection.close();
  });
});
