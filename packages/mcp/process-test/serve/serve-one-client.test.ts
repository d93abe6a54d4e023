/** Clients that are killed or fall silent while they hold the only place of a server. */
import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { join } from 'node:path';
import { text as readAll } from 'node:stream/consumers';
import { openEnv } from '@toolenv/core';
import { connectMcp, type HttpOptions, serveMcp } from '@toolenv/mcp';
import { expect, onTestFinished, test } from 'vitest';
import { doors, openDoors } from '../../test/door-env.ts';
import { context } from '../../test/servers.ts';

const waits = 120_000;

/** The address of a server for one client at a time. */
async function serve(options: HttpOptions): Promise<string> {
  const env = await openEnv(doors);
  const served = { ...env, capabilities: { concurrent: false } };
  const service = await serveMcp(served, { transport: { type: 'http', ...options } });
  onTestFinished(async () => {
    await service.close();
    await env.close();
  });
  return service.url!;
}

async function player(url: string, ...deed: string[]): Promise<ChildProcess> {
  const script = join(import.meta.dirname, '../../test/http-player.ts');
  const args = ['--import', import.meta.resolve('tsx'), '--conditions=@toolenv/source', script, url, ...deed];
  const child = spawn(process.execPath, args, { stdio: ['ignore', 'pipe', 'inherit'] });
  onTestFinished(() => void child.kill('SIGKILL'));
  child.stdout!.setEncoding('utf8');
  return child;
}

/** Seconds until a second client, which tries again and again, has an episode. */
async function secondsToEpisode(url: string): Promise<number> {
  const begun = performance.now();
  while (performance.now() - begun < waits) {
    try {
      const connection = await connectMcp({ url }, { initialize: true });
      onTestFinished(() => connection.close());
      const knock = connection.tools.find(({ name }) => name === 'knock')!;
      await knock.execute({}, context());
      expect(openDoors.size).toBe(1);
      return (performance.now() - begun) / 1000;
    } catch (error) {
      expect(String(error)).toContain('Too many sessions');
      await new Promise((resolve) => setTimeout(resolve, 100));
    }
  }
  throw new Error('the second client got no episode');
}

test.each(['calls', 'thinks', 'calls without a stream'])(
  'is free within seconds after its client is killed while it %s',
  async (deed) => {
    const url = await serve({ reconnectTimeout: 2_000 });
    const child = await player(url, deed);
    await once(child.stdout!, 'data');
    await expect(connectMcp({ url }, { initialize: true })).rejects.toThrow('Too many sessions');
    child.kill('SIGKILL');
    expect(await secondsToEpisode(url)).toBeLessThan(30);
  },
);

test('is free within 15 seconds after its client is killed, with the usual time to return', async () => {
  const url = await serve({});
  const child = await player(url, 'calls');
  await once(child.stdout!, 'data');
  child.kill('SIGKILL');
  expect(await secondsToEpisode(url)).toBeLessThan(15);
});

test('keeps a client that answers nothing for longer than the time to return', async () => {
  const url = await serve({ reconnectTimeout: 300 });
  // Longer than Node keeps idle connections by default.
  const child = await player(url, 'blocks', '12000');
  await once(child.stdout!, 'data');
  const answered = readAll(child.stdout!);
  for (const begun = performance.now(); performance.now() - begun < 2_000; ) {
    await expect(connectMcp({ url }, { initialize: true })).rejects.toThrow('Too many sessions');
    await new Promise((resolve) => setTimeout(resolve, 100));
  }
  expect(JSON.parse(await answered)).toEqual([{ type: 'text', text: 'The episode has ended.' }]);
});
