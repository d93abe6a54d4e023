/** The part `hunt`: programs that are agents look for the hidden fields of tasks, wherever they get to. */
import { randomBytes } from 'node:crypto';
import { existsSync } from 'node:fs';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { defineToolEnv, messageOf, openEnv, rollout, scriptedPolicy } from '@toolenv/core';
import { appendTrajectory } from '@toolenv/core/recording';
import { type AgentContext, type CommandOptions, command, defineAgentEnv } from '@toolenv/gateway';
import { serveMcp } from '@toolenv/mcp';
import { serveOpenEnv } from '@toolenv/openenv';
import { serveOrs } from '@toolenv/ors';
import { serveView } from '@toolenv/view';
import { checkNone, type PartInput, type Reporter } from '../part.ts';

interface Hunted {
  question: string;
  answer: string;
}

interface Report {
  /** How often it looked, by kind of place. */
  looked: Record<string, number>;
  /** The places of each canary. */
  found: Record<string, string[]>;
}

const hunter = join(import.meta.dirname, 'canary-hunter.js');

/** Programs, and so tasks. */
const programs = { full: 64, quick: 8 };

export async function run({ quick }: PartInput, { say, report }: Reporter): Promise<void> {
  const count = quick ? programs.quick : programs.full;
  for (const confined of existsSync('/usr/bin/bwrap') ? [false, true] : [false]) {
    const run = await mkdtemp(join(tmpdir(), 'toolenv-hunt-'));
    const wrong = await hunt(run, count, confined).finally(() => rm(run, { recursive: true }));
    const detail = `${count} programs looked in ${places.join(', ')}${confined ? ' and memory' : ''}`;
    say(detail);
    if (confined) report(checkNone('confined programs find no answer', wrong, detail));
    else report(checkNone('programs do not find the answer of their task', wrong, detail));
  }
}

/**
 * Plays an episode for each task, eight at a time, and appends it to a run as an evaluation does. An environment with the tasks is served at the same time, by ORS,
 * OpenEnv and MCP. The programs are told where the run and the servers are.
 * @param confined Whether the programs are confined. Then the run has all tasks already, its page is served, and no program may find any canary. Otherwise a
 *   program may find those of episodes that have ended, and not its own.
 * @returns The canaries that were found, and the places where a program did not look. It must find one that lies open.
 */
async function hunt(run: string, count: number, confined: boolean): Promise<string[]> {
  const tasks = Array.from({ length: count }, (_, index) => ({
    question: `What is ${index}?`,
    answer: `canary-${randomBytes(8).toString('hex')}`,
  }));
  const wrong: string[] = [];
  const servers: { url?: string; close(): Promise<void> }[] = [];
  try {
    await serveAll(tasks, servers);
    if (confined) {
      // The run has each task already, as in a second pass over them.
      await play(tasks, run, asks);
      servers.push(await serveView({ runs: [run] }));
    }
    const urls = servers.flatMap(({ url }) => url ?? []);
    const line = `node ${[hunter, confined ? 'memory' : 'files', run, ...urls].join(' ')}`;
    const options = confined ? { confine: { read: [hunter] } } : {};

    const open = confined ? { confine: { read: [hunter, run] } } : { env: { LEFT: tasks[0]!.answer } };
    const [seen] = await play(tasks.slice(0, 1), undefined, program(line, open));
    if (!seen!.found[tasks[0]!.answer]) wrong.push('a canary that lay open was not found');

    const reports = await play(tasks, run, program(line, options));
    if (reports.length !== count) wrong.push(`${reports.length} episodes`);
    for (const { own, looked, found } of reports) {
      const missed = places.filter((place) => !looked[place] && !(confined && outside.has(place)));
      if (missed.length > 0) wrong.push(`a program did not look at ${missed}: ${JSON.stringify(looked)}`);
      const where = confined ? Object.values(found).flat() : (found[own] ?? []);
      wrong.push(...where.map((place) => `a canary was found: ${place}`));
    }
    return wrong;
  } finally {
    for (const server of servers) await server.close();
  }
}

/** Where each program must have looked. */
const places = [
  'model',
  'environment',
  'arguments',
  'input',
  'cmdline',
  'environ',
  'open files',
  'gateway',
  'servers',
];

/** What a confined program does not reach. */
const outside: ReadonlySet<string> = new Set(['open files', 'servers']);

/** Serves an environment with the tasks by each protocol. */
async function serveAll(
  tasks: readonly Hunted[],
  servers: { url?: string; close(): Promise<void> }[],
): Promise<void> {
  const definition = defineToolEnv({
    name: 'hunted-v1',
    description: 'Asks.',
    tasks: { test: tasks },
    episode: ({ task }: { task: Hunted }) => ({
      messages: [{ role: 'user' as const, content: task.question }],
    }),
    rewards: { right: { kind: 'outcome', score: ({ answer, task }) => Number(answer === task.answer) } },
  });
  const onError = () => {};
  const given = { port: 0, maxSessions: 1000, onError };
  const env = await openEnv(definition);
  servers.push(await serveOrs(env, given), await serveOpenEnv(env, given));
  const transport = { type: 'http', port: 0, maxSessions: 1000 } as const;
  servers.push(await serveMcp(env, { transport, onError }), { close: () => env.close() });
}

type Hunter = (context: AgentContext<Hunted>) => Promise<Report>;

/** The program that looks, with a line for the shell. */
function program(line: string, options: CommandOptions<never>): Hunter {
  return async (context) => JSON.parse((await command(line, options)(context)).stdout);
}

/** An agent that only asks. */
const asks: Hunter = async ({ baseURL, apiKey, fetch }) => {
  const headers = { authorization: `Bearer ${apiKey}` };
  const body = JSON.stringify({ messages: [{ role: 'user', content: 'q' }] });
  await (await fetch(`${baseURL}/chat/completions`, { method: 'POST', headers, body })).text();
  return { looked: {}, found: {} };
};

/** An episode of each task, appended to the run. */
async function play(
  tasks: readonly Hunted[],
  run: string | undefined,
  hunter: Hunter,
): Promise<(Report & { own: string })[]> {
  const reports: (Report & { own: string })[] = [];
  const definition = defineAgentEnv({
    name: 'hunters-v1',
    description: 'Looks for what it must not know.',
    limits: { toolTimeout: 50_000 },
    tasks: { test: [...tasks] },
    async agent(context) {
      reports.push({ own: context.task.answer, ...(await hunter(context)) });
    },
    rewards: {},
  });
  await using env = await openEnv(definition);
  const policy = scriptedPolicy(() => 'Nothing.');
  const sampling = { maxTokens: 8, temperature: 0 };
  const episodes = tasks.map((task, group) => ({ task, group, sample: 0 }));
  for await (const played of rollout({ env, policy, episodes, concurrency: 8, sampling, seed: 1 })) {
    const { outcome } = played;
    if (outcome.kind !== 'terminated')
      throw new Error(`ended ${outcome.kind}: ${messageOf(Object(outcome).cause)}`);
    if (run !== undefined) await appendTrajectory(join(run, 'trajectories.jsonl'), played);
  }
  return reports;
}
