/** Attacks by agents and their clients on the gateway that answers them. */
import { existsSync } from 'node:fs';
import { request } from 'node:http';
import { setTimeout as sleep } from 'node:timers/promises';
import { messageOf, playTask, type Trajectory } from '@toolenv/core';
import { type AgentContext, command, defineAgentEnv } from '@toolenv/gateway';
import { type Attack, holds, within } from './attack.ts';
import { hunt } from './hunt.ts';

type Agent = (context: AgentContext) => unknown;

export const agents: Attack[] = [
  {
    name: 'garbage',
    attack:
      'an agent sends bodies that are no JSON, nest 100,000 levels, and have wrong types, before its request',
    expected: 'each is refused with status 400; the episode goes on',
    async run() {
      const statuses: number[] = [];
      const { reward } = await play(async (context) => {
        const nested = `{"messages": ${'['.repeat(100_000)}${']'.repeat(100_000)}}`;
        for (const body of ['', '{', 'null', '7', '{"messages": 7}', '{"messages": [null]}', nested])
          statuses.push((await post(context, body)).status);
        return ask(context);
      });
      holds(
        statuses.every((status) => status === 400),
        `answered ${statuses}`,
      );
      holds(reward === 1, `scored ${reward}`);
    },
  },
  {
    name: '1 GB',
    attack: 'an agent sends a body of 1 GB',
    expected: 'it is refused once it is too large, without being kept; the episode goes on',
    async run() {
      let answered: unknown;
      const { reward } = await play(async (context) => {
        answered = await stream(context, 1024);
        return ask(context);
      });
      holds(answered === 400 || answered === 'broken off', `answered ${answered}`);
      holds(reward === 1, `scored ${reward}`);
    },
  },
  {
    name: 'the key of another',
    attack: 'an agent keeps the key of its episode, and asks with it in the next',
    expected: 'it is refused; the next episode has its own request only',
    async run() {
      let kept: AgentContext | undefined;
      const agent: Agent = async (context) => {
        if (kept) {
          const { status } = await post({ ...context, apiKey: kept.apiKey }, question);
          holds(status === 400, `answered ${status}`);
        }
        kept = context;
        return ask(context);
      };
      const env = envOf(agent);
      for (let episode = 0; episode < 2; episode++)
        holds((await playTask(env, {}, ['right'])).steps.length === 1, 'a step of another episode');
    },
  },
  {
    name: 'a hundred requests at once',
    attack: 'an agent sends a hundred requests at once, and leaves before any answer',
    expected: 'the episode is aborted; nothing is scored',
    async run() {
      const { outcome } = await play(async (context) => {
        const leaving = new AbortController();
        const all = Array.from({ length: 100 }, () =>
          post(context, question, leaving.signal).catch(() => {}),
        );
        setTimeout(() => leaving.abort(), 5);
        await Promise.all(all);
        return 'right';
      }, 50);
      holds(outcome.kind === 'aborted', `ended ${outcome.kind}`);
    },
  },
  {
    name: 'an agent that never ends',
    attack: 'an agent ignores its signal after its answer, for ever',
    expected: 'the episode is truncated and scored, and its Env closes within seconds',
    async run() {
      const begun = performance.now();
      const { outcome } = await play(async (context) => {
        await ask(context);
        await new Promise(() => {});
      });
      holds(
        outcome.kind === 'truncated' && outcome.reason === 'deadline',
        `ended ${JSON.stringify(outcome)}`,
      );
      holds(performance.now() - begun < 9000, 'it took more than 9 s');
    },
  },
  {
    name: 'odd errors',
    attack: 'agents throw undefined, a frozen object, an error whose message throws, and a promise',
    expected: 'the episode is aborted each time; nothing is scored',
    async run() {
      const hostile = Object.defineProperty(new Error('x'), 'message', {
        get: () => {
          throw new Error('from the getter');
        },
      });
      for (const error of [undefined, Object.freeze({}), hostile, Promise.resolve(1)]) {
        const { outcome, reward } = await play(async (context) => {
          await ask(context);
          throw error;
        });
        holds(outcome.kind === 'aborted' && reward === null, `ended ${outcome.kind}`);
      }
    },
  },
  {
    name: 'a key in an error',
    attack: 'an agent throws an error with the key of its episode',
    expected: 'the key is of no use: its episode has ended',
    async run() {
      const { outcome } = await play(async (context) => {
        await ask(context);
        throw new Error(`401 for ${context.apiKey} at ${context.baseURL}`);
      });
      holds(outcome.kind === 'aborted', `ended ${outcome.kind}`);
      const [, key, baseURL] = /401 for (\S+) at (\S+)/.exec(messageOf(outcome.cause)) ?? [];
      const answer = await post({ baseURL, apiKey: key, fetch } as never, question).catch(() => ({
        status: 'closed',
      }));
      holds(answer.status === 400 || answer.status === 'closed', `answered ${answer.status}`);
    },
  },
  {
    name: 'a program that floods',
    attack: 'a program writes 300 MB to its output, ignores SIGTERM and leaves a child behind',
    expected: 'memory stays bounded, and nothing of the program is left',
    async run() {
      const program = `
        process.on('SIGTERM', () => {});
        const { spawn } = await import('node:child_process');
        const child = spawn(process.execPath, ['-e', 'setInterval(() => {}, 1000)'], { stdio: 'ignore' });
        const { OPENAI_BASE_URL: url, OPENAI_API_KEY: key } = process.env;
        const headers = { authorization: 'Bearer ' + key };
        await (await fetch(url + '/chat/completions', { method: 'POST', headers, body: '${question}' })).text();
        console.log(child.pid);
        for (let i = 0; i < 300; i++) await new Promise((done) => process.stderr.write('x'.repeat(1e6), done));
        setInterval(() => {}, 1000);
      `;
      let child = 0;
      const run = command(process.execPath, ['--input-type=module', '-e', program]);
      const { outcome } = await play(async (context) => {
        const result = run(context).catch((error) => error.result);
        child = Number((await result)?.stdout ?? 0);
      });
      holds(outcome.kind === 'truncated', `ended ${outcome.kind}`);
      await sleep(100);
      holds(child === 0 || !isAlive(child), 'its child still runs');
    },
  },
  {
    name: '64 programs that look for the answer',
    attack:
      'programs look for the answer of their task in their environment, arguments and input, in what all processes were started with and hold open, in the files of their folders, in error texts of the gateway, and in what served environments list',
    expected: 'none finds it',
    slow: true,
    run: (folder) => hunt(folder, false),
  },
  ...(existsSync('/usr/bin/bwrap')
    ? [
        {
          name: '64 confined programs that look for any answer',
          attack:
            'confined programs also look in the memory of other processes, in the folder of a run that has all tasks already, and at the page that shows it',
          expected: 'none finds one',
          slow: true,
          run: (folder: string) => hunt(folder, true),
        },
      ]
    : []),
];

const question = JSON.stringify({ messages: [{ role: 'user', content: 'q' }] });

function envOf(agent: Agent) {
  return defineAgentEnv({
    name: 'hostile-v1',
    description: 'A hostile agent.',
    limits: { maxTurns: 5, toolTimeout: 1000 },
    tasks: { test: [{}] },
    agent: agent as (context: unknown) => unknown,
    rewards: { right: { kind: 'outcome', score: ({ result }) => Number(result === 'right') } },
  });
}

/** One episode, with a policy that thinks for so many milliseconds. */
function play(agent: Agent, thinking = 0): Promise<Trajectory> {
  const act = async () => {
    await sleep(thinking);
    return 'right';
  };
  return within(30_000, playTask(envOf(agent), {}, act, { retries: 0 }));
}

function post(
  { baseURL, apiKey, fetch }: AgentContext,
  body: string,
  signal?: AbortSignal,
): Promise<Response> {
  const headers = { authorization: `Bearer ${apiKey}` };
  return fetch(`${baseURL}/chat/completions`, { method: 'POST', headers, body, ...(signal && { signal }) });
}

async function ask(context: AgentContext): Promise<string> {
  const { choices } = (await (await post(context, question)).json()) as {
    choices: { message: { content: string } }[];
  };
  return choices[0]!.message.content;
}

/** Sends so many megabytes; resolves to the status. */
function stream({ baseURL, apiKey }: AgentContext, megabytes: number): Promise<number | string> {
  return new Promise((resolve) => {
    const headers = { authorization: `Bearer ${apiKey}` };
    const sending = request(`${baseURL}/chat/completions`, { method: 'POST', headers }, (response) => {
      response.resume();
      resolve(response.statusCode!);
      sending.destroy();
    });
    sending.on('error', () => resolve('broken off'));
    const megabyte = Buffer.alloc(2 ** 20, 32);
    let sent = 0;
    const more = () => {
      while (sent++ < megabytes) if (!sending.write(megabyte)) return void sending.once('drain', more);
      sending.end();
    };
    more();
  });
}

function isAlive(pid: number): boolean {
  try {
    process.kill(pid, 0);
    return true;
  } catch {
    return false;
  }
}
