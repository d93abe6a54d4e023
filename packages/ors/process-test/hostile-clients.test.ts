/** Thousands of odd requests, sessions that nobody deletes, and clients that vanish: another client still plays its episode. */
import { openEnv, playTask } from '@toolenv/core';
import { serveOrs } from '@toolenv/ors';
import { expect, test } from 'vitest';
import { doors } from '../../mcp/test/door-env.ts';
import { OrsClient } from '../test/ors-client.ts';

const paths = [
  ...['/create', '/door-v1/call', '/door-v1/tasks', '/door-v1/task_range', '/ping', '/delete'],
  ...['/create_session', '/%00', '//', '/door-v1/../health'],
];
const bodies = [
  '{',
  'null',
  '[]',
  '{"split":"test","index":0}',
  '{"name":"knock","input":{"query":{}}}',
  '{"name":"x","input":{},"task_id":{}}',
  '{"split":"__proto__"}',
  '{"split":"test","start":-1e308,"stop":1e308}',
  'x'.repeat(20_000),
];

test('4,000 odd requests are answered or dropped, and another client plays to its reward', async () => {
  await using env = await openEnv(doors);
  const limits = { maxSessions: 20, silenceTimeout: 50, maxBodyBytes: 10_000 };
  const service = await serveOrs(env, { ...limits, onError: () => {} });
  try {
    let count = 0;
    const pound = async (_: unknown, worker: number) => {
      for (; count < 4_000; count++) {
        const path = paths[count % paths.length]!;
        const signal = count % 11 === 0 ? AbortSignal.timeout(2) : undefined;
        const client = new OrsClient(service.url, `c-${(count * 7 + worker) % 40}`);
        const body = bodies[(count * 3 + worker) % bodies.length];
        const response = await client.send(path, body, {}, signal).catch(() => undefined);
        await response?.text().catch(() => '');
        if (!path.endsWith('call')) expect(response?.status, path).not.toBe(500);
      }
    };
    await Promise.all(Array.from({ length: 16 }, pound));
    await new Promise((resolve) => setTimeout(resolve, 100));
    await using client = await openEnv(`ors:${service.url}`);
    const { reward } = await playTask(client, await client.tasks.test.get(0), ['cat']);
    expect(reward).toBe(1);
  } finally {
    await service.close();
  }
}, 60_000);
