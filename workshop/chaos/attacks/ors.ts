/** Attacks by servers of the Open Reward Standard, and by their clients. */

import { readFile } from 'node:fs/promises';
import type { ServerResponse } from 'node:http';
import { join } from 'node:path';
import { openEnv, playTask, type ToolEnvError } from '@toolenv/core';
import bridgeV1 from '@toolenv/envs-qa/bridge-v1';
import { serveOrs } from '@toolenv/ors';
import { startCli } from '../../../packages/cli/test/start-cli.ts';
import {
  answering,
  cut,
  fakeServer,
  output,
  type Reply,
  Status,
  toolNamed,
  type Writer,
} from '../../../packages/ors/test/fake-server.ts';
import { OrsClient } from '../../../packages/ors/test/ors-client.ts';
import { type Attack, holds, within } from './attack.ts';

const root = join(import.meta.dirname, '../../..');
const secret = 'sk-of-the-user-0815-4711';

export const ors: Attack[] = [
  {
    name: 'silent server',
    attack: 'an ORS server accepts and never answers, at each request in turn',
    expected: 'each episode is aborted within its limits',
    async run() {
      const never: Writer = () => {};
      for (const path of [
        '/list_environments',
        '/create_session',
        '/create',
        '/echo/prompt',
        '/echo/task_tools',
        '/echo/call',
        '/ping',
        '/delete',
      ]) {
        const isHarmless = path === '/ping' || path === '/delete';
        // Where the call is answered, a busy machine must not make it late.
        const toolTimeout = isHarmless ? 5_000 : 300;
        const options = { lookupTimeout: 300, setupTimeout: 600, toolTimeout, heartbeatTimeout: 300 };
        const played = await within(15_000, play({ [path]: never }, options));
        holds(
          isHarmless ? played.end === 'finished' : played.end.startsWith('infrastructure.'),
          `${path}: ${played.end}`,
        );
      }
    },
  },
  {
    name: 'endless answers',
    attack: 'an ORS server answers 1 GB, as JSON, as one event, as many events, and as an error',
    expected: 'each episode is aborted after 64 MiB, with the size in the error',
    async run() {
      const flood =
        (head: string, repeated: string, status = 200): Writer =>
        (response) => {
          response.writeHead(status, { 'content-type': 'text/event-stream' });
          response.write(head);
          pour(response, repeated.repeat(Math.ceil(2 ** 20 / repeated.length)), 1_024);
        };
      const event =
        'event: chunk\ndata: xxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxx\n\n';
      for (const [path, writer] of [
        ['/list_environments', flood('["', 'x')],
        ['/echo/prompt', flood('["', 'x')],
        ['/echo/call', flood('event: chunk\ndata: ', 'x')],
        ['/echo/call', flood('event: task_id\ndata: t\n\n', event)],
      ] as const) {
        const { end, why } = await within(40_000, play({ [path]: writer }, {}));
        holds(
          end === 'infrastructure.ors_reply' && why.includes('67108864'),
          `${path}: ${end} ${why.slice(0, 200)}`,
        );
      }
      const { end } = await within(40_000, play({ '/create': flood('', 'x', 500) }, {}));
      holds(end === 'infrastructure.ors_error', `as an error: ${end}`);
    },
  },
  {
    name: 'cut streams',
    attack: 'an ORS server cuts the stream of each call, at every place, and pays each attempt',
    expected: 'the tool is called once; the episode is aborted after a few attempts, and nothing is paid',
    async run() {
      const json = output('x', 1, true);
      for (const events of [
        [],
        [['task_id', 't']],
        [
          ['task_id', 't'],
          ['chunk', json],
        ],
      ] as [string, string][][]) {
        const calls: unknown[] = [];
        const writer: Writer = (response, { body }) => {
          calls.push(body.task_id);
          cut(response, ...events);
        };
        const { end, rewards } = await within(40_000, play({ '/echo/call': writer }, {}));
        holds(
          end === 'infrastructure.ors_connect' && rewards.every((each) => each === undefined),
          `ended with ${end}, rewards ${rewards}`,
        );
        holds(
          calls.filter((id) => id === undefined).length === 1 && calls.length <= 6,
          `${calls.length} calls: ${calls}`,
        );
      }
    },
  },
  {
    name: 'repeated key',
    attack:
      'an ORS server repeats the key and the secrets in prompts, results, names and errors; the episode is recorded by the command line',
    expected: 'neither the terminal nor the records of the run have them',
    async run(folder) {
      const echo = (headers: object, body: object) => JSON.stringify([headers, body]);
      for (const failing of [false, true]) {
        const server = await fakeServer({
          '/create': ((response, { headers, body }) => {
            response.writeHead(failing ? 500 : 200).end(JSON.stringify({ detail: echo(headers, body) }));
          }) satisfies Writer,
          '/echo/messages': [{ role: 'user', blocks: [{ type: 'text', text: `Your key is ${secret}.` }] }],
          '/echo/call': ((response, { headers, body }) =>
            answering(output(echo(headers, body), 1, true))(response, undefined as never)) satisfies Writer,
          '/echo/task': { task: { key: secret } },
        });
        try {
          const environment = { ...process.env, ORS_API_KEY: secret, USER_KEY: `${secret}-2` };
          const out = join(folder, String(failing));
          const args = [
            'eval',
            `ors:${server.url}`,
            '--split',
            'train',
            '--policy',
            'random',
            '--secrets',
            'key=USER_KEY',
            '--count',
            '1',
            '--retries',
            '0',
            '--out',
            out,
          ];
          const { finished } = startCli(args, root, environment);
          const { stdout, stderr } = await within(40_000, finished);
          const recorded = await readFile(join(out, 'trajectories.jsonl'), 'utf8').catch(() => '');
          holds(server.paths().includes('/create'), `no episode: ${stderr.slice(-300)}`);
          for (const text of [stdout, stderr, recorded]) {
            const base64 = Buffer.from(JSON.stringify({ key: { value: `${secret}-2` } })).toString('base64');
            holds(!text.includes(secret) && !text.includes(base64), `it is in: ${text.slice(0, 200)}`);
          }
          holds(failing || recorded.includes('[redacted]'), `nothing was recorded: ${stderr.slice(-300)}`);
        } finally {
          await server.close();
        }
      }
    },
  },
  {
    name: 'odd JSON',
    attack:
      'an ORS server answers odd JSON in place of each answer: null, numbers, deep and wide lists, __proto__, other types in each field',
    expected: 'every episode ends with an outcome, none is paid, and Object has no new property',
    async run() {
      const deep = `${'['.repeat(50_000)}${']'.repeat(50_000)}`;
      const odd = [
        'null',
        '1',
        '"x"',
        '[]',
        '{}',
        deep,
        '[null]',
        '{"__proto__":{"polluted":1}}',
        '{"tools":[{"name":"a","input_schema":{"$ref":"#/nowhere"}}]}',
        '{"tasks":7}',
        '[{"name":"a","type":"b"}]',
        '{"num_tasks":1e400}',
        '{"task":null}',
        '[{"role":"user","blocks":"x"}]',
        '1e999',
        '{"ok":true,"output":{"blocks":[],"reward":1e400}}',
        '{"ok":"yes"}',
      ];
      const paths = [
        '/list_environments',
        '/echo/splits',
        '/echo/num_tasks',
        '/echo/task',
        '/echo/messages',
        '/echo/prompt',
        '/echo/task_tools',
        '/echo/call',
      ];
      for (const path of paths) {
        for (const json of odd) {
          const reply: Reply = path === '/echo/call' ? answering(json) : new Status(200, json);
          const { end, rewards } = await within(15_000, play({ [path]: reply }, { lookupTimeout: 1_000 }));
          // What an answer does not have, a later request misses.
          const mayBePlayed = ['/echo/messages', '/echo/splits', '/echo/task_tools', '/echo/task'].includes(
            path,
          );
          holds(
            end !== '' && (mayBePlayed || rewards.every((each) => each === undefined)),
            `${path} ${json.slice(0, 60)}: ${end}, ${rewards}`,
          );
        }
      }
      holds(!('polluted' in Object.prototype), 'Object was changed');
    },
  },
  {
    name: 'hostile clients',
    attack:
      '4,000 odd requests, sessions that are never deleted, calls whose client vanishes, and the task ids of others reach a served environment',
    expected: 'each is answered or dropped, and another client plays its episode to its reward',
    async run() {
      const env = await openEnv(bridgeV1);
      const service = await serveOrs(env, {
        maxSessions: 20,
        silenceTimeout: 50,
        maxBodyBytes: 10_000,
        onError: () => {},
      });
      try {
        const paths = [
          '/create',
          '/bridge-v1/call',
          '/bridge-v1/tasks',
          '/bridge-v1/task_range',
          '/ping',
          '/delete',
          '/create_session',
          '/%00',
          '//',
          '/bridge-v1/../health',
        ];
        const bodies = [
          '{',
          'null',
          '[]',
          '{"split":"test","index":0}',
          '{"name":"search","input":{"query":{}}}',
          '{"name":"x","input":{},"task_id":{}}',
          '{"split":"__proto__"}',
          `{"split":"test","start":-1e308,"stop":1e308}`,
          'x'.repeat(20_000),
        ];
        let count = 0;
        const pound = async (worker: number) => {
          for (; count < 4_000; count++) {
            const client = new OrsClient(service.url, `c-${(count * 7 + worker) % 40}`);
            const signal = count % 11 === 0 ? AbortSignal.timeout(2) : undefined;
            const path = paths[count % paths.length]!;
            const response = await client
              .send(path, bodies[(count * 3 + worker) % bodies.length], {}, signal)
              .catch(() => undefined);
            await response?.text().catch(() => '');
            holds(response?.status !== 500 || path.endsWith('call'), `${path} gave ${response?.status}`);
          }
        };
        await within(45_000, Promise.all(Array.from({ length: 16 }, (_, i) => pound(i))));
        await new Promise((resolve) => setTimeout(resolve, 100));
        const definition = bridgeV1;
        const client = await openEnv(`ors:${service.url}`);
        const task = (await env.tasks.test.get(0)) as never;
        const played = await within(
          20_000,
          playTask(client, (await client.tasks.test.get(0)) as never, definition.oracle!(task)!),
        );
        holds(played.reward! > 0.9, `the client after them got ${played.reward}`);
        await client.close();
      } finally {
        await service.close();
        await env.close();
      }
    },
  },
];

interface Played {
  /** The code of the cause, or the reason of the end. */
  end: string;
  why: string;
  rewards: unknown[];
}

/** An episode on a server with these answers: a call, which ends it. */
async function play(replies: Record<string, Reply>, options: object): Promise<Played> {
  const tools = { tools: [toolNamed('look')] };
  const server = await fakeServer({
    '/echo/task_tools': tools,
    '/echo/call': answering(output('', 1, true)),
    ...replies,
  });
  try {
    const env = await openEnv(`ors:${server.url}`, { ...options });
    const script = [[{ name: 'look', arguments: { text: 'x' } }], 'done'];
    const { outcome, steps } = await playTask(env, await env.tasks.train.get(0), script, { retries: 0 });
    await env.close();
    const rewards = steps.map(({ rewards }) => rewards?.reward);
    if (outcome.kind !== 'aborted')
      return { end: 'reason' in outcome ? outcome.reason : '', why: '', rewards };
    const { code, message } = outcome.cause as ToolEnvError;
    return { end: code, why: message, rewards };
  } catch (error) {
    const { code, message } = error as ToolEnvError;
    holds(code !== undefined && !code.startsWith('bug.'), `it threw ${String((error as Error).stack)}`);
    return { end: code, why: message, rewards: [] };
  } finally {
    await server.close();
  }
}

/** Writes a text many times, as fast as the client reads. */
function pour(response: ServerResponse, text: string, times: number): void {
  for (let left = times; left > 0; left--) {
    if (response.destroyed) return;
    if (!response.write(text)) return void response.once('drain', () => pour(response, text, left - 1));
  }
  response.end();
}
