/** Thousands of clients at once, and processes that are killed. */
import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { join } from 'node:path';
import { collect, openEnv, rollout, scriptedPolicy } from '@toolenv/core';
import { serveOpenEnv } from '@toolenv/openenv';
import { expect, onTestFinished, test } from 'vitest';
import { doors, openDoors } from '../../mcp/test/door-env.ts';
import { FrameClient } from '../test/frame-client.ts';

const flags = ['--import', import.meta.resolve('tsx'), '--conditions=@toolenv/source'];

async function start(script: string, ...args: string[]): Promise<{ child: ChildProcess; said: string }> {
  const file = join(import.meta.dirname, '../test', script);
  const child = spawn(process.execPath, [...flags, file, ...args], { stdio: ['ignore', 'pipe', 'inherit'] });
  onTestFinished(() => void child.kill('SIGKILL'));
  const [line] = await once(child.stdout!.setEncoding('utf8'), 'data');
  return { child, said: String(line).trim() };
}

test('2,000 episodes at once are all played to their reward', async () => {
  const { said: url } = await start('counter-server.ts', '0');
  const clients: FrameClient[] = [];
  for (let i = 0; i < 2_000; i += 100) {
    clients.push(...(await Promise.all(Array.from({ length: 100 }, () => FrameClient.connect(url)))));
  }
  const tasks = await Promise.all(
    clients.map(async (client, i) => (await client.ask('reset', { task: i % 3 })).data.metadata.task),
  );
  expect(tasks).toEqual(clients.map((_, i) => i % 3));
  // All hold their places.
  const further = await FrameClient.connect(url);
  expect((await further.next()).data.code).toBe('CAPACITY_REACHED');
  const rewards = await Promise.all(
    clients.map(async (client, i) => {
      await client.call('add', { by: (i % 3) + 1 });
      return (await client.call('episode_answer', { text: 'done' })).data.reward;
    }),
  );
  expect(rewards.filter((reward) => reward === 1)).toHaveLength(2_000);
  for (const { socket } of clients) socket.terminate();
});

test('the place of a client that is killed is free within a second', async () => {
  const env = await openEnv(doors);
  const service = await serveOpenEnv(env, { maxSessions: 1 });
  onTestFinished(async () => {
    await service.close();
    await env.close();
  });
  const { child } = await start('waiting-client.ts', service.url);
  expect(openDoors.size).toBe(1);
  child.kill('SIGKILL');
  const begun = performance.now();
  for (;;) {
    const client = await FrameClient.connect(service.url);
    const { type } = await client.ask('reset');
    if (type === 'observation') break;
    await new Promise((resolve) => setTimeout(resolve, 20));
  }
  expect(performance.now() - begun).toBeLessThan(1_000);
});

test('episodes in flight when the server is killed are aborted, and run again', async () => {
  const first = await start('counter-server.ts', '0');
  const { port } = new URL(first.said);
  const env = await openEnv(`openenv:${first.said}`, { tasks: 24 });
  onTestFinished(() => env.close());
  let restarted: Promise<unknown> | undefined;
  const policy = scriptedPolicy(async ({ messages }, turn) => {
    if (turn > 0) return 'done';
    if (!restarted) {
      first.child.kill('SIGKILL');
      restarted = start('counter-server.ts', port);
    }
    // The episode is in flight: it was reset on the server that is now dead, or on the new one.
    await restarted;
    return [{ name: 'add', arguments: { by: Number(/\d/.exec(messages[0]!.content)![0]) } }];
  });
  const episodes = Array.from({ length: 24 }, (_, i) => ({
    task: env.tasks.train.get(i),
    group: i,
    sample: 0,
  }));
  const sampling = { maxTokens: 16, temperature: 0 };
  const played = await collect(
    rollout({ env, policy, episodes, concurrency: 8, sampling, seed: 1, retries: 3 }),
  );
  expect(played.map(({ outcome, reward }) => [outcome.kind, reward])).toEqual(
    Array.from({ length: 24 }, () => ['terminated', 1]),
  );
  expect(restarted).toBeDefined();
});
