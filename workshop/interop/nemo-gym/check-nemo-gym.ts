/**
 * `npm run interop -- nemo-gym`: plays on the resources servers of NeMo Gym's package what its own agent has played there: the rollouts that are recorded
 * beside each server. The rewards must be those that are recorded.
 */
import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { createInterface } from 'node:readline';
import { type Action, messageOf, type OpenedEnv, type Outcome, openEnv, playTask } from '@toolenv/core';
import type { NemoGymRow } from '@toolenv/nemo-gym';
import { messagesOf } from '../../../packages/nemo-gym/src/responses.ts';
import { check } from '../check.ts';
import { killGroup } from '../programs.ts';

/** Servers without a judge, whose rollouts are those of the agent that calls tools until it answers. */
const names = [
  'example_single_tool_call',
  'example_multi_step',
  'example_session_state_mgmt',
  'example_tool_call_multireward',
  'xlam_fc',
  'mcqa',
  'arc_agi',
  'format_verification',
];
/** A server whose rollouts are of other rows. Its rows name the right calls. */
const truthful = 'workplace_assistant';
/** A server whose rows have no tools. */
const refused = 'example_mcp_weather';

interface Server {
  name: string;
  url: string;
  /** Folder of its rows and rollouts. */
  data: string;
}

interface Item {
  type: string;
  name: string;
  arguments: string;
  call_id: string;
  content: { text: string }[];
}

type Recorded = NemoGymRow & { response: { output: Item[] }; reward: number };

/** @param python Has the package of nemo-gym.txt. */
export async function checkNemoGym(python: string): Promise<void> {
  const child = spawn(python, [join(import.meta.dirname, 'serve.py'), ...names, truthful, refused], {
    detached: true,
    stdio: ['ignore', 'pipe', 'inherit'],
  });
  try {
    const servers = await started(child);
    for (const name of names) await checkServer(servers.get(name)!);
    await checkTruth(servers.get(truthful)!);
    await checkRefusals(servers);
  } finally {
    await killGroup(child);
  }
}

async function started(child: ChildProcess): Promise<Map<string, Server>> {
  const servers = new Map<string, Server>();
  const ended = once(child, 'exit').then(() => {
    throw new Error('The servers ended: see the message above.');
  });
  ended.catch(() => {});
  const all = (async () => {
    for await (const line of createInterface({ input: child.stdout! })) {
      const server: Server = JSON.parse(line);
      servers.set(server.name, server);
      if (servers.size === names.length + 2) return;
    }
  })();
  await Promise.race([all, ended]);
  return servers;
}

async function checkServer({ name, url, data }: Server): Promise<void> {
  const read = async (file: string): Promise<Recorded[]> =>
    (await readFile(join(data, file), 'utf8'))
      .trim()
      .split('\n')
      .map((line) => JSON.parse(line));
  const path = join(data, 'example.jsonl');
  const rows = await read('example.jsonl');
  // Rollouts lack what the verifier needs, which the row with the same question has.
  const questionOf = ({ responses_create_params: params }: NemoGymRow) => JSON.stringify(messagesOf(params));
  const questions = rows.map(questionOf);
  await using env = (await openEnv(`nemo-gym:${url}`, { path, testPath: path })) as OpenedEnv<NemoGymRow>;
  const wrong: string[] = [];
  const rewards: number[] = [];
  for (const rollout of await read('example_rollouts.jsonl')) {
    const row = questions.indexOf(questionOf(rollout));
    if (row < 0) continue;
    const actions = turnsOf(rollout.response.output);
    const played = await playTask(env, rows[row]!, (_observation, turn) => actions[turn] ?? '', { seed: 1 });
    rewards.push(rollout.reward);
    if (played.reward !== rollout.reward)
      wrong.push(`row ${row}: ${whyOf(played.outcome)} with ${played.reward}, recorded ${rollout.reward}`);
  }
  const title = `${name}: ${rewards.length} rollouts with their rewards (${rewards.join(', ')})`;
  check(wrong.length === 0 && rewards.length > 0, title, wrong.join('; '));
}

/** The calls that the rows name as right earn the reward, and an answer without them does not. */
async function checkTruth({ name, url, data }: Server): Promise<void> {
  const path = join(data, 'example.jsonl');
  await using env = (await openEnv(`nemo-gym:${url}`, { path, testPath: path })) as OpenedEnv<NemoGymRow>;
  const count = await env.tasks.test.length;
  const rewards: (number | null)[] = [];
  const idle: (number | null)[] = [];
  for (let index = 0; index < count; index++) {
    const task = await env.tasks.test.get(index);
    const truth = task.ground_truth as { name: string; arguments: string }[];
    const calls = truth.map((call) => [{ name: call.name, arguments: JSON.parse(call.arguments) }]);
    rewards.push((await playTask(env, task, [...calls, 'Done.'], { seed: 1 })).reward);
    idle.push((await playTask(env, task, ['Done.'], { seed: 1 })).reward);
  }
  const sum = (values: readonly (number | null)[]) =>
    values.reduce<number>((total, value) => total + (value ?? 0), 0);
  const title = `${name}: the right calls of ${count} rows earn 1, and no calls earn 0`;
  check(count > 0 && sum(rewards) === count && sum(idle) === 0, title, `${rewards}; ${idle}`);
}

function whyOf(outcome: Outcome): string {
  return outcome.kind === 'aborted' ? outcome.cause.message : outcome.kind;
}

/** The turns of an agent: what it has written until results came. */
function turnsOf(output: readonly Item[]): Action[] {
  const turns: Action[] = [];
  let isOpen = false;
  for (const { type, content, name, arguments: args, call_id: id } of output) {
    if (type === 'function_call_output') isOpen = false;
    if (type !== 'message' && type !== 'function_call') continue;
    if (!isOpen) turns.push({ text: '', toolCalls: [], stopReason: 'stop' });
    isOpen = true;
    const turn = turns.at(-1)!;
    if (type === 'message') turn.text += content.map(({ text }) => text).join('');
    else {
      turn.toolCalls.push({ id, name, arguments: JSON.parse(args) });
      turn.stopReason = 'tool_call';
    }
  }
  return turns;
}

async function checkRefusals(servers: ReadonlyMap<string, Server>): Promise<void> {
  const { url, data: rows } = servers.get('mcqa')!;
  const whyNot = async (address: string, file: string) => {
    try {
      await using env = (await openEnv(`nemo-gym:${address}`, { path: file })) as OpenedEnv<NemoGymRow>;
      const { outcome } = await playTask(env, await env.tasks.train.get(0), ['A'], { seed: 1 });
      return whyOf(outcome);
    } catch (error) {
      return messageOf(error);
    }
  };
  const noServer = await whyNot(`${url}/docs`, join(rows, 'example.jsonl'));
  check(
    noServer.includes('is no resources server of NeMo Gym'),
    'another server is refused by name',
    noServer,
  );
  const { data, url: ofMcp } = servers.get(refused)!;
  const overMcp = await whyNot(ofMcp, join(data, 'example.jsonl'));
  check(overMcp.includes('offers its tools over MCP only'), `${refused} is refused by name`, overMcp);
}
