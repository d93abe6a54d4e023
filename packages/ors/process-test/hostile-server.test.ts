/** ORS servers that are silent, answer oddly or without end, and cut every stream: no episode hangs, and none is paid for it. */
import type { ServerResponse } from 'node:http';
import { openEnv, playTask, type ToolEnvError } from '@toolenv/core';
import { expect, test, vi } from 'vitest';
import {
  answering,
  cut,
  fakeServer,
  output,
  type Reply,
  Status,
  toolNamed,
  type Writer,
} from '../test/fake-server.ts';

interface Played {
  /** The code of the cause, or the reason of the end. */
  end: string;
  why: string;
  rewards: unknown[];
}

/** An episode on a server with these answers: a call, which ends it. */
async function play(replies: Record<string, Reply>, options: object = {}): Promise<Played> {
  vi.stubEnv('ORS_API_KEY', '');
  const usual = {
    '/echo/task_tools': { tools: [toolNamed('look')] },
    '/echo/call': answering(output('', 1, true)),
  };
  const server = await fakeServer({ ...usual, ...replies });
  try {
    await using env = await openEnv(`ors:${server.url}`, { ...options });
    const script = [[{ name: 'look', arguments: { text: 'x' } }], 'done'];
    const { outcome, steps } = await playTask(env, await env.tasks.train.get(0), script, { retries: 0 });
    const rewards = steps.flatMap((step) => step.rewards?.reward ?? []);
    if (outcome.kind !== 'aborted')
      return { end: 'reason' in outcome ? outcome.reason : '', why: '', rewards };
    return { end: outcome.cause.code, why: outcome.cause.message, rewards };
  } catch (error) {
    const { code, message, stack } = error as ToolEnvError;
    expect(code, stack).toMatch(/^(usage|infrastructure)\./);
    return { end: code, why: message, rewards: [] };
  } finally {
    await server.close();
  }
}

const harmless = ['/ping', '/delete'];
const paths = [
  '/list_environments',
  '/create_session',
  '/create',
  '/echo/prompt',
  '/echo/task_tools',
  '/echo/call',
];

test.each([...paths, ...harmless])(
  'a server that never answers %s aborts the episode, or does no harm',
  async (path) => {
    const isHarmless = harmless.includes(path);
    // Where the call is answered, a busy machine must not make it late.
    const toolTimeout = isHarmless ? 5_000 : 300;
    const options = { lookupTimeout: 300, setupTimeout: 600, toolTimeout, heartbeatTimeout: 300 };
    const { end } = await play({ [path]: (() => {}) satisfies Writer }, options);
    expect(end).toMatch(isHarmless ? /^finished$/ : /^infrastructure\./);
  },
  15_000,
);

/** Writes a text of a MiB a thousand times, as fast as the client reads. */
function pour(response: ServerResponse, text: string, left = 1_024): void {
  for (; left > 0 && !response.destroyed; left--)
    if (!response.write(text)) return void response.once('drain', () => pour(response, text, left - 1));
  response.end();
}

const event = `event: chunk\ndata: ${'x'.repeat(55)}\n\n`;
test.each([
  ['/list_environments', '["', 'x', 200, 'infrastructure.ors_reply'],
  ['/echo/prompt', '["', 'x', 200, 'infrastructure.ors_reply'],
  ['/echo/call', 'event: chunk\ndata: ', 'x', 200, 'infrastructure.ors_reply'],
  ['/echo/call', 'event: task_id\ndata: t\n\n', event, 200, 'infrastructure.ors_reply'],
  ['/create', '', 'x', 500, 'infrastructure.ors_error'],
])(
  'an answer of a gigabyte to %s (%j, then %j) ends after 64 MiB',
  async (path, head, repeated, status, code) => {
    const flood: Writer = (response) => {
      response.writeHead(status, { 'content-type': 'text/event-stream' }).write(head);
      pour(response, repeated.repeat(Math.ceil(2 ** 20 / repeated.length)));
    };
    const { end, why } = await play({ [path]: flood });
    expect(end).toBe(code);
    if (status === 200) expect(why).toContain('67108864');
  },
  40_000,
);

test.each<[string, [string, string][]]>([
  ['before its task_id', []],
  ['after its task_id', [['task_id', 't']]],
  [
    'before its end',
    [
      ['task_id', 't'],
      ['chunk', output('x', 1, true)],
    ],
  ],
])(
  'a stream that is cut %s each time calls the tool once, and pays nothing',
  async (_, events) => {
    const calls: unknown[] = [];
    const writer: Writer = (response, { body }) => {
      calls.push(body.task_id);
      cut(response, ...events);
    };
    expect(await play({ '/echo/call': writer })).toMatchObject({
      end: 'infrastructure.ors_connect',
      rewards: [],
    });
    expect(calls.filter((id) => id === undefined)).toHaveLength(1);
    expect(calls.length).toBeLessThanOrEqual(6);
  },
  40_000,
);

const odd = [
  'null',
  '1',
  '"x"',
  '[]',
  '{}',
  `${'['.repeat(50_000)}${']'.repeat(50_000)}`,
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
/** What these answers lack, a later request misses. */
const mayBePlayed = ['/echo/messages', '/echo/splits', '/echo/task_tools', '/echo/task'];

test.each(['/list_environments', '/echo/num_tasks', '/echo/prompt', '/echo/call', ...mayBePlayed])(
  'odd JSON in place of the answer to %s ends the episode, which is not paid',
  async (path) => {
    for (const json of odd) {
      const reply: Reply = path === '/echo/call' ? answering(json) : new Status(200, json);
      const { end, rewards } = await play({ [path]: reply }, { lookupTimeout: 1_000 });
      expect(end, json.slice(0, 60)).not.toBe('');
      if (!mayBePlayed.includes(path)) expect(rewards, json.slice(0, 60)).toEqual([]);
    }
    expect(Object.prototype).not.toHaveProperty('polluted');
  },
);
