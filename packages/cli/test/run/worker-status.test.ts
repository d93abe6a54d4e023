/** What a worker tells Kubernetes and Prometheus. */
import { once } from 'node:events';
import { connect } from 'node:net';
import type { Trajectory } from '@toolenv/core';
import { expect, test } from 'vitest';
import { WorkerStatus } from '../../src/run/worker-status.ts';

function episode(outcome: Trajectory['outcome'], reward: number | null): Trajectory {
  const tokens = { prompt: Int32Array.of(1), action: Int32Array.of(1, 2, 3), logprobs: new Float32Array(3) };
  const action = { text: '', toolCalls: [], stopReason: 'stop', tokens };
  return { outcome, reward, steps: [{ action, calls: [] }] } as unknown as Trajectory;
}

const answered = episode({ kind: 'terminated', reason: 'answered' }, 0.5);
const version = { name: 'version-7', policyVersion: 7, restart: 0 };

test('it is ready while it plays, and counts what it has played', async () => {
  const status = new WorkerStatus();
  const { url, close } = await status.serve(0, '127.0.0.1');
  const get = async (path: string) => {
    const response = await fetch(`${url}${path}`);
    return [response.status, await response.text()] as const;
  };
  expect(await get('/healthz')).toEqual([200, 'ok\n']);
  expect(await get('/readyz')).toEqual([503, 'not ready\n']);
  expect(await get('/other')).toEqual([404, 'not found\n']);
  status.add({ type: 'ready', version });
  expect(await get('/readyz')).toEqual([200, 'ready\n']);
  status.add({ type: 'begun', group: 0, episodes: 2, version, takenOver: 1 });
  status.add({ type: 'begun', group: 1, episodes: 2, version, takenOver: 1 });
  status.add({ type: 'ended', group: 0, trajectories: [answered, answered], counts: true });
  status.add({ type: 'ended', group: 1, trajectories: [answered, answered], counts: false });
  const [, text] = await get('/metrics');
  const lines = text.split('\n');
  for (const line of [
    '# TYPE toolenv_episodes_total counter',
    'toolenv_episodes_total{outcome="terminated"} 2',
    'toolenv_episodes_total{outcome="aborted"} 0',
    'toolenv_episodes_playing 0',
    'toolenv_groups_total 1',
    'toolenv_groups_discarded_total 1',
    'toolenv_groups_taken_over_total 1',
    'toolenv_generated_tokens_total 12',
    'toolenv_rewards_total 1',
    'toolenv_scored_episodes_total 2',
    'toolenv_policy_version 7',
    'toolenv_worker_ready 1',
  ])
    expect(lines).toContain(line);
  // Every line is a comment or a name with a value, as the text format wants it.
  for (const line of lines.slice(0, -1))
    expect(line).toMatch(/^(# (HELP|TYPE) \w+ .+|\w+(\{\w+="\w+"\})? [\d.e+-]+)$/);
  status.isDraining = true;
  expect((await get('/readyz'))[0]).toBe(503);
  expect((await get('/healthz'))[0]).toBe(200);
  await close();
});

test('silent connections and odd requests do not keep probes away', async () => {
  const { url, close } = await new WorkerStatus().serve(0, '127.0.0.1');
  const { port } = new URL(url);
  const silent = await Promise.all(
    Array.from({ length: 104 }, async () => {
      const socket = connect(Number(port), '127.0.0.1');
      await once(socket, 'connect');
      return socket;
    }),
  );
  const evicted = Promise.race(silent.map((socket) => once(socket, 'close')));
  expect((await fetch(`${url}/healthz`)).status).toBe(200);
  await evicted;
  expect((await fetch(`${url}//`)).status).toBe(404);
  await close();
});
