/** The calls of an MCP environment are recorded, and replayed without any server. */
import { mkdtemp, readFile, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { collect, openEnv, rollout, scriptedPolicy } from '@toolenv/core';
import { encodeTrajectory, recordEnv, replayEnv, type ToolTap } from '@toolenv/core/recording';
import { defineMcpEnv, type McpEndpoint, type McpTask } from '@toolenv/mcp';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { realServer } from '../../test/servers.ts';

let folder: string;
beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), 'toolenv-record-mcp-'));
});
afterAll(() => rm(folder, { recursive: true }));

const tasks: McpTask[] = [1, 2, 3].map((a) => ({
  prompt: `Add ${a} and 4.`,
  answer: `The sum of ${a} and 4 is ${a + 4}.`,
}));

/** Asks the server, and answers what the server said. */
const adder = scriptedPolicy(({ messages }, turn) => {
  const a = Number(/\d+/.exec(messages[0]!.content));
  return turn === 0 ? [{ name: 'get-sum', arguments: { a, b: 4 } }] : messages.at(-1)!.content;
});

async function play(server: McpEndpoint, lifetime: 'episode' | 'shared', tap: ToolTap): Promise<string[]> {
  const definition = defineMcpEnv({ name: 'sums-v1', server, tasks, only: ['get-sum', 'echo'] });
  const env = await openEnv(definition, { maxServers: 2, lifetime }, { tap });
  const episodes = tasks.map((task, group) => ({ task, group, sample: 0 }));
  const sampling = { maxTokens: 9, temperature: 1 };
  const run = { env, policy: adder, episodes, concurrency: 3, sampling, seed: 1, retries: 0 };
  const played = await collect(rollout<McpTask>(run));
  await env.close();
  await tap.finish();
  expect(played.map(({ reward }) => reward)).toEqual([1, 1, 1]);
  return played.map((trajectory) => encodeTrajectory(trajectory).replaceAll(/"milliseconds":[\d.e-]+/g, ''));
}

it.each(['episode', 'shared'] as const)('with servers of lifetime "%s"', async (lifetime) => {
  const file = join(folder, `${lifetime}.jsonl`);
  const recorded = await play(realServer('everything'), lifetime, recordEnv(file));
  const [header, ...calls] = (await readFile(file, 'utf8')).trimEnd().split('\n');
  const { tools } = JSON.parse(header!) as { tools: { name: string; role?: string }[] };
  // The environment may call every tool of the server, also those that the policy does not get.
  expect(tools.map(({ name }) => name)).toEqual(expect.arrayContaining(['echo', 'get-sum', 'get-env']));
  expect(tools.filter(({ role }) => role !== undefined)).toEqual([]);
  expect(calls).toHaveLength(3);
  expect(await play({ command: 'no-such-command' }, lifetime, await replayEnv(file))).toEqual(recorded);
});
