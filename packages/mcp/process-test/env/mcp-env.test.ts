/** Environments whose episodes have servers of their own, several servers, or rewards that read the servers' final state. */
import { spawnSync } from 'node:child_process';
import { existsSync } from 'node:fs';
import { mkdtemp, readdir, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { collect, openEnv, rollout, type Script, scriptedPolicy, ToolEnvError } from '@toolenv/core';
import { encodeTrajectory, recordEnv, replayEnv, type ToolTap } from '@toolenv/core/recording';
import { defineMcpEnv, type McpCommand, openMcpPool } from '@toolenv/mcp';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { bundle } from '../../test/bundle.ts';
import { badServer, context, realServer } from '../../test/servers.ts';

const sampling = { maxTokens: 64, temperature: 1 };
const memory = (folder: string): McpCommand => ({
  ...realServer('memory'),
  env: { MEMORY_FILE_PATH: join(folder, 'graph.jsonl') },
});

interface Fact {
  prompt: string;
  known: string;
  wanted: string;
}
const facts: Fact[] = [
  { prompt: 'Remember Ada.', known: 'Bob', wanted: 'Ada' },
  { prompt: 'Remember Eve.', known: 'Dan', wanted: 'Eve' },
  { prompt: 'Remember Zoe.', known: 'Kim', wanted: 'Zoe' },
];
const entity = (name: string) => ({ name, entityType: 'person', observations: [] });

function isRunning(pid: number): boolean {
  return (
    spawnSync('ps', ['-o', 'stat=', '-p', String(pid)], { encoding: 'utf8' })
      .stdout.trim()
      .match(/^[^Z]/) !== null
  );
}

/** Folders that servers were started in. */
let used: string[] = [];

const people = defineMcpEnv({
  name: 'people-v1',
  server({ folder }) {
    used.push(folder);
    return memory(folder);
  },
  tasks: { test: facts },
  only: ['create_entities', 'delete_entities'],
  rewards: {
    graph: {
      kind: 'outcome',
      async score({ task, call }) {
        const { result } = await call('read_graph');
        const { entities } = result!.structuredContent as { entities: { name: string }[] };
        return Number(
          JSON.stringify(entities.map(({ name }) => name)) === JSON.stringify([task.known, task.wanted]),
        );
      },
    },
  },
  async episode({ task, call }) {
    await call('create_entities', { entities: [entity(task.known)] });
  },
});

/** Remembers the person of the prompt, then answers. */
const remember: Script = ({ messages }, turn) => {
  const [, name] = /Remember (\w+)/.exec(messages[0]!.content)!;
  return turn === 0 ? [{ name: 'create_entities', arguments: { entities: [entity(name!)] } }] : 'done';
};

async function play(
  definition: Parameters<typeof openEnv>[0] | typeof people,
  script: Script,
  options: object = {},
  tap?: ToolTap,
) {
  const env = await openEnv(definition as typeof people, options, { tap });
  const episodes = [0, 1, 2].map((group) => ({ task: env.tasks.test.get(group), group, sample: 0 }));
  const played = await collect(
    rollout({ env, policy: scriptedPolicy(script), episodes, concurrency: 3, sampling, seed: 1, retries: 0 }),
  );
  await env.close();
  await tap?.finish();
  return played;
}

test('gives each episode a server and a folder, fills it first and scores its final state', async () => {
  used = [];
  const played = await play(people, remember);
  expect(played.map(({ outcome }) => outcome.kind)).toEqual(['terminated', 'terminated', 'terminated']);
  expect(played.map(({ reward }) => reward)).toEqual([1, 1, 1]);
  // One to list the tools, one for each episode.
  expect(new Set(used).size).toBe(4);
  expect(used.filter((folder) => existsSync(folder) || existsSync(dirname(folder)))).toEqual([]);
});

test('keeps the calls of the environment, and the tools that only it may call, from the policy', async () => {
  const [first] = await play(people, (observation, turn) => {
    expect(observation.tools.map(({ name }) => name)).toEqual(['create_entities', 'delete_entities']);
    return turn === 0 ? [{ name: 'read_graph', arguments: {} }] : remember(observation, turn - 1);
  });
  expect(first!.reward).toBe(1);
  expect(first!.steps[0]!.calls[0]!.mistake).toMatchObject({ code: 'unknown_tool' });
  const own = first!.steps.map(({ environmentCalls = [] }) =>
    environmentCalls.map(({ call }) => 'name' in call && call.name),
  );
  expect(own).toEqual([['create_entities'], [], ['read_graph']]);
});

test('draws its tasks from the seed and the options', async () => {
  const drawn = defineMcpEnv({
    name: 'drawn-v1',
    options: { properties: { count: { type: 'integer', default: 2 } } },
    tasks: ({ options: { count }, seed }) => ({
      test: Array.from({ length: count }, (_, i) => ({ prompt: `${seed}.${i}` })),
    }),
    server: ({ folder }) => memory(folder),
  });
  const env = await openEnv(drawn, { count: 3 }, { seed: 7 });
  expect(env.tasks.test.length).toBe(3);
  expect(env.tasks.test.get(2)).toEqual({ prompt: '7.2' });
  await env.close();
});

test('does not reward another final state', async () => {
  const played = await play(people, () => 'done');
  expect(played.map(({ reward }) => reward)).toEqual([0, 0, 0]);
});

describe('recording', () => {
  let folder: string;
  beforeAll(async () => {
    folder = await mkdtemp(join(tmpdir(), 'toolenv-mcp-test-'));
  });
  afterAll(() => rm(folder, { recursive: true }));

  test('replays the calls of policy and environment without a server', async () => {
    const file = join(folder, 'calls.jsonl');
    const asText = (played: Awaited<ReturnType<typeof play>>) =>
      played.map((each) => encodeTrajectory(each).replaceAll(/"milliseconds":[\d.e-]+/g, ''));
    const recorded = asText(await play(people, remember, {}, recordEnv(file)));
    expect((await readFile(file, 'utf8')).trimEnd().split('\n')).toHaveLength(1 + 3 * 3);
    used = [];
    expect(asText(await play(people, remember, {}, await replayEnv(file)))).toEqual(recorded);
    expect(used).toEqual([]);
  });
});

test('offers the tools that a call unlocks in the next observation, and no longer those that a call removes', async () => {
  const growing = defineMcpEnv({
    name: 'growing-v1',
    server: badServer,
    tasks: { test: [{ prompt: 'Grow.' }] },
  });
  await using env = await openEnv(growing);
  const episode = env.episode();
  await episode.reset({ task: await env.tasks.test.get(0), seed: 1 });
  const step = async (...names: string[]) => {
    const toolCalls = names.map((name) => ({ id: name, name, arguments: {} }));
    const { observation, calls } = await episode.step({ text: '', toolCalls, stopReason: 'tool_call' });
    return { last: observation.tools.at(-1)!.name, calls };
  };
  expect(await step('grow')).toMatchObject({ last: 'grown-2' });
  const unlocked = await step('grown-2');
  expect(unlocked.calls).toMatchObject([{ text: 'grown-2' }]);
  expect(unlocked.calls[0]).not.toHaveProperty('mistake');
  await step('shrink');
  // The server tells of it after its answer, on a busy machine after the next call too.
  await expect
    .poll(() => step('grown-2'), { interval: 200 })
    .toMatchObject({ last: 'grow', calls: [{ mistake: { code: 'unknown_tool' } }] });
  await episode.close();
});

describe('a server that needs long to start', () => {
  const slow = (options: object = {}) =>
    defineMcpEnv({
      name: 'slow-v1',
      server: { ...badServer, env: { START_AFTER: '1000' } },
      tasks: { test: [{ prompt: 'Go.' }] },
      limits: { toolTimeout: 900 },
      ...options,
    });

  test('gets the time that the definition or the run gives it', async () => {
    const late = {
      code: 'infrastructure.mcp_connect',
      message: expect.stringContaining('--connect-timeout'),
    };
    await expect(openEnv(slow(), { connectTimeout: 300 })).rejects.toMatchObject(late);
    await expect(openEnv(slow({ connectTimeout: 300 }))).rejects.toMatchObject(late);
    const env = await openEnv(slow({ connectTimeout: 300, closeGrace: 50 }), { connectTimeout: 30_000 });
    await env.close();
  });

  test('does not start at the expense of the first call', async () => {
    await using env = await openEnv(slow({ closeGrace: 50 }));
    const outcomes = [1, 2, 3].map(async (seed) => {
      const episode = env.episode();
      await episode.reset({ task: await env.tasks.test.get(0), seed });
      const toolCalls = [{ id: '1', name: 'cancelled', arguments: {} }];
      const { outcome } = await episode.step({ text: '', toolCalls, stopReason: 'tool_call' });
      await episode.close();
      return outcome.kind;
    });
    expect(await Promise.all(outcomes)).toEqual(['running', 'running', 'running']);
  });

  test('is not waited for by a call beyond callTimeout', async () => {
    await using env = await openEnv(slow({ callTimeout: 50, closeGrace: 50 }));
    const episode = env.episode();
    await episode.reset({ task: await env.tasks.test.get(0), seed: 1 });
    const toolCalls = [{ id: '1', name: 'wait', arguments: {} }];
    const { outcome } = await episode.step({ text: '', toolCalls, stopReason: 'tool_call' });
    expect(outcome).toMatchObject({ kind: 'aborted', cause: { code: 'infrastructure.mcp_timeout' } });
    await episode.close();
  });
});

test.each([
  ['definition', { closeGrace: 20 }, {}],
  ['run', {}, { closeGrace: 20 }],
])('a server that ignores its end is killed after the time that the %s gives it', async (_, own, given) => {
  const tasks = { test: [{ prompt: 'Go.' }] };
  const env = await openEnv(defineMcpEnv({ name: 'stubborn-v1', server: badServer, tasks, ...own }), given);
  const episode = env.episode();
  await episode.reset({ task: await env.tasks.test.get(0), seed: 1 });
  const toolCalls = [{ id: '1', name: 'stubborn', arguments: {} }];
  await episode.step({ text: '', toolCalls, stopReason: 'tool_call' });
  const begun = performance.now();
  await episode.close();
  await env.close();
  // By default it would have 2 s to end, and 2 s more after SIGTERM.
  expect(performance.now() - begun).toBeLessThan(2000);
});

test('lets the server itself say that a tool is gone which somebody holds', async () => {
  const pool = await openMcpPool(badServer, { size: 1, closeGrace: 50 });
  const lease = await pool.acquire();
  await lease.ready();
  const tool = (name: string) => lease.tools.find((each) => each.name === name)!;
  await tool('grow').execute({}, context());
  const held = tool('grown-2');
  await tool('shrink').execute({}, context());
  expect(await held.execute({}, context())).toEqual({
    content: [{ type: 'text', text: 'no tool grown-2' }],
    isError: true,
  });
  await lease.release();
  await pool.close();
});

test('never runs more servers than maxServers', async () => {
  const running = new Set<string>();
  let most = 0;
  const counted = defineMcpEnv({
    name: 'counted-v1',
    server: ({ folder }) => memory(folder),
    tasks: { test: Array.from({ length: 12 }, (_, i) => ({ prompt: `${i}` })) },
    async episode({ call, episodeId }) {
      await call('read_graph');
      running.add(episodeId);
      most = Math.max(most, running.size);
      return { close: () => void running.delete(episodeId) };
    },
  });
  const env = await openEnv(counted, { maxServers: 2 });
  const episodes = Array.from({ length: 12 }, (_, group) => ({
    task: env.tasks.test.get(group),
    group,
    sample: 0,
  }));
  const policy = scriptedPolicy(() => new Promise((resolve) => setTimeout(resolve, 300, 'done')));
  const played = await collect(rollout({ env, policy, episodes, concurrency: 12, sampling, seed: 1 }));
  await env.close();
  expect(played.filter(({ outcome }) => outcome.kind === 'terminated')).toHaveLength(12);
  expect(most).toBe(2);
});

describe('several servers', () => {
  const tasks = { test: [{ prompt: 'Copy the name from the note into memory.', answer: 'done' }] };

  test('offer their tools together, and work on the same folder', async () => {
    const both = defineMcpEnv({
      name: 'both-v1',
      servers: {
        memory: ({ folder }) => memory(folder),
        files: ({ folder }) => realServer('filesystem', folder),
      },
      only: ['read_text_file', 'create_entities'],
      tasks,
      rewards: {
        kept: {
          kind: 'outcome',
          score: async ({ state: { folder } }) =>
            Number((await readFile(join(folder, 'graph.jsonl'), 'utf8')).includes('"Ada"')),
        },
      },
      async episode({ folder, tools }) {
        expect(tools.map(({ name }) => name)).toEqual(['create_entities', 'read_text_file']);
        await writeFile(join(folder, 'note.txt'), 'Ada');
        return { messages: `Copy the name from ${join(folder, 'note.txt')} into memory.` };
      },
    });
    const env = await openEnv(both);
    const policy = scriptedPolicy(({ messages }, turn) => {
      const [, path] = /from (\S+) into/.exec(messages[0]!.content)!;
      if (turn === 0) return [{ name: 'read_text_file', arguments: { path } }];
      const entities = [entity(messages.at(-1)!.content)];
      return turn === 1 ? [{ name: 'create_entities', arguments: { entities } }] : 'done';
    });
    const episodes = [{ task: env.tasks.test.get(0), group: 0, sample: 0 }];
    const [played] = await collect(rollout({ env, policy, episodes, concurrency: 1, sampling, seed: 1 }));
    expect(played).toMatchObject({ outcome: { kind: 'terminated' }, reward: 1 });
    await env.close();
  });

  test('need other names for tools of one name, which `prefix` gives', async () => {
    const servers = { left: realServer('memory'), right: realServer('memory') };
    await expect(openEnv(defineMcpEnv({ name: 'two-v1', servers, tasks }))).rejects.toMatchObject({
      code: 'usage.mcp_tool_names',
      message: expect.stringMatching(
        /left and right both .*`prefix: true`.*left_create_entities and right_create_/,
      ),
    });
    const only = ['left_read_graph', 'right_read_graph'];
    const prefixed = defineMcpEnv({ name: 'two-v1', servers, tasks, prefix: true, only });
    const env = await openEnv(prefixed, { lifetime: 'shared' });
    const episode = env.episode();
    const { tools } = await episode.reset({ task: await env.tasks.test.get(0), seed: 1 });
    expect(tools.map(({ name }) => name)).toEqual(only);
    const toolCalls = only.map((name) => ({ id: name, name, arguments: {} }));
    const { calls } = await episode.step({ text: '', toolCalls, stopReason: 'tool_call' });
    expect(calls.map(({ result }) => result!.structuredContent)).toEqual(
      only.map(() => ({ entities: [], relations: [] })),
    );
    await episode.close();
    await env.close();
  });
});

describe('an episode that cannot begin', () => {
  const failing = (error: Error) =>
    defineMcpEnv({
      name: 'failing-v1',
      server: ({ folder }) => ({ ...badServer, cwd: folder }),
      tasks: { test: [{ prompt: 'go' }] },
      async episode({ folder, call }) {
        used.push(folder);
        await call('cancelled');
        if (used.length < 3) throw error;
      },
    });

  test('ends its server, removes its folder and gives its place back', async () => {
    used = [];
    const error = new ToolEnvError('infrastructure.disk', 'The disk is full.');
    const env = await openEnv(failing(error), { maxServers: 1 });
    const episode = env.episode();
    const begin = () => episode.reset({ task: { prompt: 'go' }, seed: 1 });
    await expect(begin()).rejects.toBe(error);
    await expect(begin()).rejects.toBe(error);
    await begin();
    expect(used.map((folder) => existsSync(folder))).toEqual([false, false, true]);
    await episode.close();
    expect(existsSync(used[2]!)).toBe(false);
    expect(await readdir(dirname(used[2]!))).toEqual([]);
    await env.close();
  });
});

test('an aborted episode ends its server and removes its folder', async () => {
  let pid = 0;
  used = [];
  const crashing = defineMcpEnv({
    name: 'crashing-v1',
    server({ folder }) {
      used.push(folder);
      return { ...badServer, cwd: folder };
    },
    tasks: { test: [{ prompt: 'go', answer: 'done' }] },
    async episode({ call }) {
      pid = Number((await call('child')).text);
    },
  });
  const env = await openEnv(crashing);
  const policy = scriptedPolicy(() => [{ name: 'crash', arguments: {} }]);
  const episodes = [{ task: env.tasks.test.get(0), group: 0, sample: 0 }];
  const [played] = await collect(
    rollout({ env, policy, episodes, concurrency: 1, sampling, seed: 1, retries: 0 }),
  );
  expect(played).toMatchObject({
    outcome: { kind: 'aborted', cause: { code: 'infrastructure.mcp_closed' } },
  });
  expect(used.map((folder) => existsSync(folder))).toEqual([false, false]);
  await expect.poll(() => isRunning(pid)).toBe(false);
  await env.close();
});

test('the environment’s first call may take longer than toolTimeout, because the server starts', async () => {
  const args = ['-c', `sleep 0.4; exec "${badServer.command}" "${badServer.args![0]}"`];
  const slow = defineMcpEnv({
    name: 'slow-v1',
    server: () => ({ command: 'sh', args }),
    tasks: [{ prompt: 'go' }],
    limits: { toolTimeout: 300 },
    async episode({ call }) {
      expect((await call('cancelled')).text).toBe('0');
    },
  });
  const env = await openEnv(slow);
  const episode = env.episode();
  await episode.reset({ task: await env.tasks.test.get(0), seed: 1 });
  await episode.close();
  await env.close();
});

test('the folders of episodes are removed if the process exits', async () => {
  const program = bundle(join(import.meta.dirname, '../../test/exit.ts'));
  const args = [program, ...badServer.args!];
  const { status, stdout } = spawnSync(process.execPath, args, { encoding: 'utf8' });
  expect(status).toBe(7);
  const { folder, child } = JSON.parse(stdout);
  expect(folder).toContain('toolenv-mcp-');
  expect(existsSync(dirname(folder))).toBe(false);
  await expect.poll(() => isRunning(Number(child))).toBe(false);
});

describe('a definition', () => {
  const tasks = { test: [{ prompt: 'go' }] };

  test('may have options, which its servers receive', async () => {
    const seen: unknown[] = [];
    const optional = defineMcpEnv({
      name: 'optional-v1',
      options: { properties: { size: { type: 'integer', default: 3 } } },
      server({ options: { size, maxServers }, task, episodeId }) {
        seen.push([size, maxServers, task.prompt, episodeId]);
        return badServer;
      },
      tasks,
    });
    const env = await openEnv(optional, { size: 5 });
    const episode = env.episode();
    await episode.reset({ task: await env.tasks.test.get(0), seed: 1, episodeId: 'mine' });
    await episode.close();
    await env.close();
    expect(seen).toEqual([
      [5, 8, 'go', 'open'],
      [5, 8, 'go', 'mine'],
    ]);
    await expect(openEnv(optional, { lifetime: 'shared' })).rejects.toMatchObject({
      code: 'usage.unknown_option',
    });
  });

  test('is refused if it is wrong', async () => {
    expect(() => defineMcpEnv({ name: 'none-v1', tasks })).toThrow(/either a `server`, or `servers`/);
    const maxServers = { type: 'integer' };
    expect(() =>
      defineMcpEnv({ name: 'twice-v1', server: badServer, tasks, options: { properties: { maxServers } } }),
    ).toThrow(/"maxServers" is an option of every MCP environment/);
    const misspelt = defineMcpEnv({ name: 'only-v1', server: badServer, tasks, only: ['crush'] });
    await expect(openEnv(misspelt)).rejects.toMatchObject({
      code: 'usage.mcp_tool',
      message: expect.stringContaining('Did you mean "crash"?'),
    });
    const empty = defineMcpEnv({ name: 'empty-v1', server: () => badServer, tasks: [] });
    await expect(openEnv(empty)).rejects.toMatchObject({ code: 'usage.mcp_tasks' });
    const silent = defineMcpEnv({
      name: 'silent-v1',
      server: badServer,
      tasks: { test: [{ question: 'What?' }] },
    });
    const env = await openEnv(silent);
    const reset = env.episode().reset({ task: { question: 'What?' }, seed: 1 });
    await expect(reset).rejects.toThrow(/return `messages` from `episode`/);
    await env.close();
  });
});
