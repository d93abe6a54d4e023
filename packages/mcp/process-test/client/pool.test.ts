import { execFileSync } from 'node:child_process';
import { existsSync } from 'node:fs';
import { mkdtemp, readdir, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { collect, openEnv, rollout, scriptedPolicy, type TaskSet, type ToolResult } from '@toolenv/core';
import {
  defineMcpEnv,
  type McpLease,
  type McpTask,
  mcpToolFactory,
  openMcpPool,
  type ServerReset,
} from '@toolenv/mcp';
import { checkEnv } from '@toolenv/testing';
import fc from 'fast-check';
import { afterEach, beforeEach, describe, expect, test } from 'vitest';
import { badServer, context, groupLives, realServer } from '../../test/servers.ts';

/** Calls echo with the task's prompt, then answers with the result. */
const echoing = scriptedPolicy(({ messages }, turn) => {
  const last = messages.at(-1)!.content;
  return turn === 0 ? [{ name: 'echo', arguments: { message: last } }] : last;
});
const sampling = { maxTokens: 64, temperature: 0 };

function echoTasks(count: number): McpTask[] {
  return Array.from({ length: count }, (_, i) => ({ prompt: `word ${i}`, answer: `Echo: word ${i}` }));
}

async function episodesOf(tasks: TaskSet<McpTask>) {
  const groups = [...Array(await tasks.length).keys()];
  return groups.map((group) => ({ task: tasks.get(group), group, sample: 0 }));
}

/** Process ids of the servers that this process started. */
function ownServers(name = 'server-everything'): number[] {
  const processes = execFileSync('ps', ['-eo', 'ppid=,pid=,args='], {
    encoding: 'utf8',
    maxBuffer: 2 ** 28,
  }).split('\n');
  const own = new RegExp(`^\\s*${process.pid} +(\\d+) .*${name}`);
  return processes.flatMap((line) => own.exec(line)?.[1] ?? []).map(Number);
}

function call(lease: McpLease, name: string, args = {}): Promise<ToolResult> {
  return lease.tools.find((tool) => tool.name === name)!.execute(args, context());
}

test('plays 1,000 concurrent episodes on 8 servers without losing or mixing up any', async () => {
  const definition = defineMcpEnv({
    name: 'echo-v1',
    server: realServer('everything'),
    tasks: echoTasks(1000),
  });
  const env = await openEnv(definition, { maxServers: 8, lifetime: 'shared' });
  const episodes = await episodesOf(env.tasks.test);
  const played = await collect(
    rollout({ env, policy: echoing, episodes, concurrency: 1000, sampling, seed: 1, retries: 0 }),
  );
  expect(played.length).toBe(1000);
  expect(played.filter(({ outcome }) => outcome.kind === 'aborted')).toEqual([]);
  expect(played.filter(({ reward }) => reward === 1).length).toBe(1000);
  await env.close();
});

test('completes 1,000 concurrent episodes although a server is killed', async () => {
  const definition = defineMcpEnv({
    name: 'echo-v1',
    server: realServer('everything'),
    tasks: echoTasks(1000),
  });
  const env = await openEnv(definition, { maxServers: 8, lifetime: 'shared' });
  let waiting = 0;
  const policy = scriptedPolicy(({ messages }, turn) => {
    const last = messages.at(-1)!.content;
    if (turn === 0) {
      waiting += 1;
      // Well before the first call is answered, even on a busy machine.
      if (waiting === 200) setTimeout(() => process.kill(ownServers()[0]!, 'SIGKILL'), 100);
      return [{ name: 'trigger-long-running-operation', arguments: { duration: 4, steps: 1 } }];
    }
    return turn === 1 ? [{ name: 'echo', arguments: { message: messages[0]!.content } }] : last;
  });
  const episodes = await episodesOf(env.tasks.test);
  const played = await collect(
    rollout({ env, policy, episodes, concurrency: 1000, sampling, seed: 1, retries: 1 }),
  );
  expect(played.filter(({ reward }) => reward === 1).length).toBe(1000);
  // The episodes of the killed server were aborted and played again.
  expect(played.filter(({ episodeId }) => episodeId.endsWith('-retry1')).length).toBeGreaterThan(0);
  await env.close();
  expect(ownServers()).toEqual([]);
});

test('aborts the episodes of a killed server unscored and starts a new server', async () => {
  const pool = await openMcpPool(badServer, { size: 1 });
  const first = await pool.acquire();
  const neighbour = await pool.acquire();
  await Promise.all([first.ready(), neighbour.ready()]);
  expect(neighbour.pid).toBe(first.pid);
  const waiting = call(first, 'wait');
  setTimeout(() => process.kill(first.pid!, 'SIGKILL'), 50);
  await expect(waiting).rejects.toMatchObject({ code: 'infrastructure.mcp_closed' });
  // The server's state for the other lease is lost too.
  await expect(call(neighbour, 'cancelled')).rejects.toMatchObject({ code: 'infrastructure.mcp_closed' });
  const next = await pool.acquire();
  await next.ready();
  expect(next.pid).not.toBe(first.pid);
  expect(await call(next, 'cancelled')).toEqual({ content: [{ type: 'text', text: '0' }] });
  for (const lease of [first, neighbour, next]) await lease.release();
  await pool.close();
  await expect.poll(() => groupLives(next.pid!)).toBe(false);
});

describe('in an environment', () => {
  const crashing = (crashes: number) => {
    let left = crashes;
    return scriptedPolicy((_, turn) => {
      if (turn > 0) return 'done';
      return [{ name: left-- > 0 ? 'crash' : 'cancelled', arguments: {} }];
    });
  };
  const tasks: McpTask[] = [{ prompt: 'go', answer: 'done' }];
  const play = async (crashes: number, lifetime: 'shared' | 'episode') => {
    const env = await openEnv(defineMcpEnv({ name: 'bad-v1', server: badServer, tasks }), {
      maxServers: 1,
      lifetime,
    });
    const episodes = await episodesOf(env.tasks.test);
    const [played] = await collect(
      rollout({ env, policy: crashing(crashes), episodes, concurrency: 1, sampling, seed: 1 }),
    );
    await env.close();
    return played!;
  };

  test.each(['shared', 'episode'] as const)('an episode is retried after a crash (%s)', async (lifetime) => {
    expect(await play(1, lifetime)).toMatchObject({ outcome: { kind: 'terminated' }, reward: 1 });
  });

  test.each(['shared', 'episode'] as const)(
    'an episode that crashes every time is not scored (%s)',
    async (lifetime) => {
      const { outcome, reward, rewards } = await play(2, lifetime);
      expect(outcome).toMatchObject({
        kind: 'aborted',
        retryable: true,
        cause: { code: 'infrastructure.mcp_closed' },
      });
      expect(reward).toBeNull();
      expect(rewards).toEqual({ correct: null });
    },
  );
});

test('with lifetime "episode", each episode has its own server, which ends with the episode', async () => {
  const pool = await openMcpPool(badServer, { size: 2, lifetime: 'episode' });
  const [a, b] = await Promise.all([pool.acquire(), pool.acquire()]);
  await Promise.all([a.ready(), b.ready()]);
  expect(a.pid).not.toBe(b.pid);
  const order: string[] = [];
  const third = pool.acquire().then((lease) => {
    order.push('third');
    return lease;
  });
  const impatient = pool.acquire({ signal: AbortSignal.timeout(50) });
  await expect(impatient).rejects.toMatchObject({ name: 'TimeoutError' });
  await call(a, 'grow');
  order.push('release');
  await a.release();
  await expect.poll(() => groupLives(a.pid!)).toBe(false);
  const c = await third;
  await c.ready();
  expect(order).toEqual(['release', 'third']);
  expect(c.tools.some(({ name }) => name.startsWith('grown'))).toBe(false);
  await pool.close();
  await expect.poll(() => [b, c].some(({ pid }) => groupLives(pid!))).toBe(false);
  await expect(pool.acquire()).rejects.toMatchObject({ code: 'infrastructure.mcp_closed' });
});

describe('an acquire that is aborted', () => {
  /** Takes half a second to start, and does not end before that by itself. */
  const slowServer = {
    command: 'sh',
    args: ['-c', `sleep 0.5; exec "${badServer.command}" "${badServer.args![0]}"`],
  };

  test('ends at once while it waits for a free server, and loses no slot', async () => {
    const pool = await openMcpPool(badServer, { size: 1, lifetime: 'episode' });
    const held = await pool.acquire();
    const leave = new AbortController();
    const waiting = [1, 2, 3].map(() => pool.acquire({ signal: leave.signal }));
    const patient = pool.acquire();
    const reason = new Error('enough');
    leave.abort(reason);
    // The server is not free before it is released.
    for (const each of waiting) await expect(each).rejects.toBe(reason);
    await held.release();
    const next = await patient;
    expect(await call(next, 'cancelled')).toMatchObject({ content: [{ text: '0' }] });
    await next.release();
    await pool.close();
  });

  test('or a call, ends at once while its server starts, and loses no slot', async () => {
    const pool = await openMcpPool(slowServer, { size: 1, lifetime: 'episode' });
    const first = await pool.acquire();
    await call(first, 'cancelled');
    await first.release();
    for (let i = 0; i < 3; i++) {
      const lease = await pool.acquire();
      expect(lease.pid).toBeUndefined();
      const reason = new Error('enough');
      const start = performance.now();
      await expect(lease.ready(AbortSignal.abort(reason))).rejects.toBe(reason);
      const leave = new AbortController();
      const tool = lease.tools.find(({ name }) => name === 'cancelled')!;
      const calling = tool.execute({}, context(leave.signal));
      leave.abort(reason);
      await expect(calling).rejects.toBe(reason);
      await lease.release();
      expect(performance.now() - start).toBeLessThan(400);
    }
    const last = await pool.acquire();
    expect(await call(last, 'cancelled')).toMatchObject({ content: [{ text: '0' }] });
    await pool.close();
    expect(groupLives(last.pid!)).toBe(false);
  });
});

test('with lifetime "episode", a server that no call has reached serves the next episode', async () => {
  const pool = await openMcpPool(badServer, { size: 1, lifetime: 'episode' });
  const unused = await pool.acquire();
  const { pid } = unused;
  await unused.release();
  const used = await pool.acquire();
  expect(used.pid).toBe(pid);
  await call(used, 'cancelled');
  await used.release();
  expect(groupLives(pid!)).toBe(false);
  const next = await pool.acquire();
  await next.ready();
  expect(next.pid).not.toBe(pid);
  await pool.close();
});

test('with lifetime "episode", the next server starts ahead, if there is room', async () => {
  const pool = await openMcpPool(badServer, { size: 2, lifetime: 'episode' });
  const first = await pool.acquire();
  // Time for the spare server to start.
  await expect.poll(() => ownServers('bad-server').length, { timeout: 10_000 }).toBe(2);
  const second = await pool.acquire();
  await second.ready();
  expect(second.pid).not.toBe(first.pid);
  // The pool is full.
  expect(ownServers('bad-server').length).toBe(2);
  await pool.close();
  expect(ownServers('bad-server')).toEqual([]);
});

describe('with a reset', () => {
  /** The published server of a memory, which keeps a graph in a file. */
  const memory = (folder: string) => ({
    ...realServer('memory'),
    env: { MEMORY_FILE_PATH: join(folder, 'memory.jsonl') },
  });
  const remember = (lease: McpLease, name: string) =>
    call(lease, 'create_entities', { entities: [{ name, entityType: 'city', observations: [] }] });
  const remembered = async (lease: McpLease) => {
    const { entities } = (await call(lease, 'read_graph')).structuredContent as {
      entities: { name: string }[];
    };
    return entities.map(({ name }) => name);
  };
  const forget: ServerReset = async (callTool) => {
    const { entities } = (await callTool('read_graph')).structuredContent as { entities: { name: string }[] };
    await callTool('delete_entities', { entityNames: entities.map(({ name }) => name) });
  };
  let folder: string;
  beforeEach(async () => {
    folder = await mkdtemp(join(tmpdir(), 'toolenv-'));
  });
  afterEach(() => rm(folder, { recursive: true }));

  test('a server serves one episode after the other, each from its first state', async () => {
    const pool = await openMcpPool(memory(folder), { size: 1, lifetime: 'episode', reset: forget });
    const pids = new Set<number>();
    for (const name of ['Rome', 'Oslo', 'Lima']) {
      const lease = await pool.acquire();
      await lease.ready();
      pids.add(lease.pid!);
      expect(await remembered(lease)).toEqual([]);
      await remember(lease, name);
      await lease.release();
    }
    expect(pids.size).toBe(1);
    await pool.close();
  });

  test.each<[string, ServerReset, RegExp]>([
    ['that throws', () => Promise.reject(new Error('not today')), /not today/],
    ['that calls a missing tool', (callTool) => callTool('forget'), /there is no tool "forget"/],
    [
      'whose call fails',
      (callTool) => callTool('delete_entities', { entityNames: 3 }),
      /"delete_entities" answers/,
    ],
  ])('a server ends after a reset %s, and the next episode has a new one', async (_, reset, says) => {
    const warnings: string[] = [];
    const onWarning = (message: string) => warnings.push(message);
    const pool = await openMcpPool(memory(folder), { size: 1, lifetime: 'episode', reset, onWarning });
    const first = await pool.acquire();
    await first.ready();
    const { pid } = first;
    await remember(first, 'Rome');
    await first.release();
    const second = await pool.acquire();
    await second.ready();
    expect(second.pid).not.toBe(pid);
    expect(warnings).toEqual([expect.stringMatching(says)]);
    await second.release();
    await pool.close();
  });

  test.each([
    ['calls a tool that never answers', (callTool) => callTool('wait')],
    ['never ends', () => new Promise(() => {})],
  ] satisfies [string, ServerReset][])('a reset that %s ends with its server', async (_, reset) => {
    const warnings: string[] = [];
    const onWarning = (message: string) => warnings.push(message);
    const options = { lifetime: 'episode', reset, connectTimeout: 5_000, onWarning } as const;
    const pool = await openMcpPool(badServer, { size: 1, ...options });
    const first = await pool.acquire();
    await first.ready();
    await call(first, 'cancelled');
    await first.release();
    const second = await pool.acquire();
    await second.ready();
    expect(second.pid).not.toBe(first.pid);
    expect(warnings).toEqual([expect.stringContaining('was not reset, so it ends (not done after 5 s)')]);
    await second.release();
    await pool.close();
    // A pool that closes does not wait for a reset.
    const hanging = await openMcpPool(badServer, { size: 1, lifetime: 'episode', reset });
    const third = await hanging.acquire();
    await call(third, 'cancelled');
    const released = third.release();
    await hanging.close();
    await released;
  });

  test('the episodes of an environment do not see each other, and start no more processes than maxServers', async () => {
    const started = new Set<number>();
    const env = await openEnv(
      defineMcpEnv<McpTask>()({
        name: 'cities-v1',
        server: memory(folder),
        tasks: Array.from({ length: 20 }, (_, i) => ({ prompt: `city ${i}`, answer: 'done' })),
        only: ['create_entities', 'read_graph'],
        reset: ({ call: callTool }) => forget(callTool, memory(folder)),
        rewards: {
          alone: {
            kind: 'outcome',
            async score({ call: callTool }) {
              for (const pid of ownServers('server-memory')) started.add(pid);
              const { result } = await callTool('read_graph');
              const { entities } = result!.structuredContent as { entities: unknown[] };
              return Number(entities.length === 1);
            },
          },
        },
      }),
      { maxServers: 1 },
    );
    const entity = { name: 'Rome', entityType: 'city', observations: [] };
    const policy = scriptedPolicy((_, turn) =>
      turn === 0 ? [{ name: 'create_entities', arguments: { entities: [entity] } }] : 'done',
    );
    const episodes = await episodesOf(env.tasks.test as TaskSet<McpTask>);
    const played = await collect(rollout({ env, policy, episodes, concurrency: 4, sampling, seed: 1 }));
    expect(played.map(({ reward }) => reward)).toEqual(Array(20).fill(1));
    expect(started.size).toBe(1);
    await env.close();
  });

  test('a server from a function keeps its folder, which one episode after the other receives', async () => {
    const seen: string[] = [];
    const definition = (reset: (context: { folder?: string | undefined }) => unknown) =>
      defineMcpEnv<McpTask>()({
        name: 'notes-v1',
        server: ({ folder: own }) => memory(own),
        tasks: echoTasks(6),
        reset,
        async episode({ call: callTool, folder: own }) {
          seen.push(own);
          expect(await readdir(own)).toEqual([]);
          const entity = { name: 'Rome', entityType: 'city', observations: [] };
          await callTool('create_entities', { entities: [entity] });
          expect(await readdir(own)).toEqual(['memory.jsonl']);
          return undefined;
        },
      });
    // The server reads its file at each call.
    const empty = ({ folder: own }: { folder?: string | undefined }) => rm(join(own!, 'memory.jsonl'));
    const env = await openEnv(definition(empty), { maxServers: 2 });
    const episodes = await episodesOf(env.tasks.test as TaskSet<McpTask>);
    const policy = scriptedPolicy(() => 'done');
    const played = await collect(rollout({ env, policy, episodes, concurrency: 3, sampling, seed: 1 }));
    expect(played.filter(({ outcome }) => outcome.kind === 'aborted')).toEqual([]);
    expect(new Set(seen).size).toBe(2);
    await env.close();
    expect(seen.filter((each) => existsSync(each))).toEqual([]);
    seen.length = 0;
    // After a reset that fails, each episode has a new server with a new folder.
    const fails = await openEnv(
      definition(() => Promise.reject(new Error('no'))),
      { maxServers: 2 },
    );
    await collect(rollout({ env: fails, policy, episodes, concurrency: 3, sampling, seed: 1 }));
    expect(new Set(seen).size).toBe(6);
    await fails.close();
  });

  test.each([
    ['empties', true],
    ['leaves', false],
  ])('the check passes an environment whose reset %s its folder: %s', async (_, isEmptied) => {
    const definition = defineMcpEnv<McpTask>()({
      name: 'notes-v1',
      server: ({ folder: own }) => memory(own),
      reset: ({ emptyFolder }) => isEmptied && emptyFolder(),
      tasks: echoTasks(2),
      only: ['create_entities'],
      // The server writes its file without a lock.
      limits: { maxCallsPerTurn: 1 },
      rewards: { none: { kind: 'outcome', score: () => 0 } },
    });
    const { findings } = await checkEnv(definition, { actions: 40 });
    expect(findings.map(({ rule }) => rule)).toEqual(isEmptied ? [] : ['ENV-11']);
  });

  test('several servers of a folder take no reset', () => {
    const servers = { a: () => memory(folder), b: badServer };
    const define = () => defineMcpEnv({ name: 'own-v1', servers, tasks: echoTasks(1), reset: () => {} });
    expect(define).toThrow(
      'own-v1: `reset` keeps each server, with its folder, for later episodes, and "a" shares',
    );
  });
});

test('with serverPerLease, each lease has its own server, which always ends with it', async () => {
  const pool = await openMcpPool(badServer, { size: 1, serverPerLease: true });
  const pids: number[] = [];
  for (const key of ['one', 'two']) {
    const lease = await pool.acquire({ server: { ...badServer, env: { LUCK_KEY: key } } });
    await lease.ready();
    pids.push(lease.pid!);
    if (key === 'two') await expect(call(lease, 'crash')).rejects.toThrow('out of luck with two');
    await lease.release();
    expect(groupLives(lease.pid!)).toBe(false);
  }
  expect(new Set(pids).size).toBe(2);
  await pool.close();
  const shared = await openMcpPool(badServer);
  await expect(shared.acquire({ server: badServer })).rejects.toMatchObject({ code: 'usage.mcp_pool' });
  await shared.close();
});

test('never gives out more places than it has, and loses none, whoever leaves when', async () => {
  const size = 3;
  const pool = await openMcpPool(badServer, { size, lifetime: 'episode' });
  /** For each visitor: milliseconds until it gives up waiting, and milliseconds that it stays. */
  const visitors = fc.array(fc.tuple(fc.nat(30), fc.nat(15)), { minLength: 4, maxLength: 12 });
  let held = 0;
  const visit = async (patience: number, stay: number) => {
    const lease = await pool.acquire({ signal: AbortSignal.timeout(patience) }).catch(() => undefined);
    if (!lease) return;
    held += 1;
    expect(held).toBeLessThanOrEqual(size);
    await new Promise((resolve) => setTimeout(resolve, stay));
    held -= 1;
    await lease.release();
  };
  const property = fc.asyncProperty(visitors, async (each) => {
    await Promise.all(each.map(([patience, stay]) => visit(patience, stay)));
    const free = Array.from({ length: size }, () => pool.acquire({ signal: AbortSignal.timeout(2_000) }));
    for (const lease of await Promise.all(free)) await lease.release();
  });
  await fc.assert(property, { numRuns: 15, seed: 1 });
  await pool.close();
});

test('a call waits until its server has started', async () => {
  const pool = await openMcpPool(badServer, { size: 2, lifetime: 'episode' });
  const [, second] = [await pool.acquire(), await pool.acquire()];
  expect(second.pid).toBeUndefined();
  expect(second.tools.length).toBeGreaterThan(5);
  const [calling, released] = [call(second, 'cancelled'), call(second, 'wait')];
  expect(await calling).toMatchObject({ content: [{ text: '0' }] });
  expect(second.pid).toBeGreaterThan(0);
  const closed = expect(released).rejects.toMatchObject({ code: 'infrastructure.mcp_closed' });
  await pool.close();
  await closed;
});

test('closing a pool ends a hanging server', async () => {
  const pool = await openMcpPool(badServer, { size: 1, closeGrace: 200 });
  const lease = await pool.acquire();
  await lease.ready();
  const hanging = call(lease, 'hang');
  hanging.catch(() => {});
  await new Promise((resolve) => setTimeout(resolve, 50));
  await pool.close();
  await expect.poll(() => groupLives(lease.pid!)).toBe(false);
  await expect(hanging).rejects.toMatchObject({ code: 'infrastructure.mcp_closed' });
});

test('replaces a hanging server after a call has timed out', async () => {
  const pool = await openMcpPool(badServer, { size: 1, closeGrace: 200, pingTimeout: 200 });
  const stuck = await pool.acquire();
  await stuck.ready();
  const hang = stuck.tools.find(({ name }) => name === 'hang')!;
  await expect(hang.execute({}, context(AbortSignal.timeout(100)))).rejects.toMatchObject({
    name: 'TimeoutError',
  });
  await expect.poll(() => groupLives(stuck.pid!), { timeout: 5_000 }).toBe(false);
  const next = await pool.acquire();
  await next.ready();
  expect(next.pid).not.toBe(stuck.pid);
  expect(await call(next, 'cancelled')).toMatchObject({ content: [{ text: '0' }] });
  await pool.close();
});

test('uses one server for sequential episodes', async () => {
  const pool = await openMcpPool(realServer('memory'), { size: 8 });
  const pids = new Set<number | undefined>();
  for (let i = 0; i < 5; i++) {
    const lease = await pool.acquire();
    await lease.ready();
    pids.add(lease.pid);
    await lease.release();
  }
  expect(pids.size).toBe(1);
  await pool.close();
});

test('refuses wrong options when it is opened', async () => {
  await expect(openMcpPool(badServer, { size: 0 })).rejects.toMatchObject({ code: 'usage.mcp_pool' });
  await expect(openMcpPool({ command: 'no-such-command' })).rejects.toMatchObject({
    code: 'usage.mcp_command',
  });
  const broken = defineMcpEnv({
    name: 'x-v1',
    server: badServer,
    tasks: new URL('./nowhere.jsonl', import.meta.url),
  });
  await expect(openEnv(broken)).rejects.toMatchObject({
    code: 'usage.mcp_tasks',
    message: expect.stringContaining('nowhere.jsonl cannot be read'),
  });
});

test('mcpToolFactory makes a tool whose server is restarted after a crash', async () => {
  const open = mcpToolFactory(badServer, 'crash');
  const tool = await open({});
  expect(tool).toMatchObject({ name: 'crash', inputSchema: { type: 'object' } });
  for (let i = 0; i < 2; i++) {
    await expect(tool.execute({}, context())).rejects.toMatchObject({
      code: 'infrastructure.mcp_closed',
      message: expect.stringContaining('exited with code 3'),
    });
  }
  await tool.close!();
});
