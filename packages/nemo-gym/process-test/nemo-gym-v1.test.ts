/** Rows of NeMo Gym on a resources server in small, sound and hostile. On the servers of its package: `npm run interop -- nemo-gym`. */
import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { messageOf, type OpenedEnv, openEnv, playTask, type Scripted, type Trajectory } from '@toolenv/core';
import { checkEnv } from '@toolenv/testing';
import { expect, test } from 'vitest';
import { newFolder } from '../../../workshop/test/new-folder.ts';
import type { NemoGymRow } from '../src/index.ts';
import { gymServer, type Reply } from './gym-server.ts';

const tool = (name: string) => ({
  type: 'function',
  name,
  description: `Does ${name}.`,
  parameters: { type: 'object', properties: { by: { type: 'integer' } }, required: ['by'] },
});
const rowOf = (number: number) => ({
  start: number,
  expected: number + 3,
  responses_create_params: {
    input: [
      { role: 'developer', content: 'You count.' },
      { role: 'user', content: [{ type: 'input_text', text: `Add 3 to ${number}.` }] },
    ],
    tools: [tool('add.one'), tool('broken')],
  },
});
const add = (by: number): Scripted => [{ name: 'add_one', arguments: { by } }];

const file = join(await newFolder(), 'rows.jsonl');
await writeFile(file, Array.from({ length: 10 }, (_, index) => `${JSON.stringify(rowOf(index))}\n`).join(''));

async function opened(url: string, options: object = {}): Promise<OpenedEnv<NemoGymRow>> {
  return (await openEnv(`nemo-gym:${url}`, { path: file, ...options })) as OpenedEnv<NemoGymRow>;
}

const play = (env: OpenedEnv<NemoGymRow>, task: NemoGymRow, script: Scripted[]): Promise<Trajectory> =>
  playTask(env, task, script, { seed: 1, retries: 0 });

test('the server keeps the session, runs the tools under their own names and verifies the whole response', async () => {
  await using server = await gymServer();
  await using env = await opened(server.url);
  expect([await env.tasks.train.length, await env.tasks.test.length]).toEqual([8, 2]);
  const task = await env.tasks.test.get(0);
  expect(task).toEqual(rowOf(4));
  const played = await play(env, task, [add(1), add(2), 'It is 7.']);
  expect(played).toMatchObject({ reward: 1, outcome: { kind: 'terminated', reason: 'answered' } });
  expect(played.steps[0]!.observation.messages).toEqual([
    { role: 'system', content: 'You count.' },
    { role: 'user', content: 'Add 3 to 4.' },
  ]);
  expect(played.steps.map(({ calls }) => calls[0]?.text)).toEqual(['{"count":5}', '{"count":7}', undefined]);
  expect(played.steps[2]!.info).toEqual({ verified: { is_right: true, calls: 5 } });
  const { response, ...row } = server.bodies['/verify']![0]!;
  expect(row).toEqual(rowOf(4));
  expect(response).toMatchObject({
    status: 'completed',
    output: [
      { type: 'function_call', call_id: 'call-0-0', name: 'add.one', arguments: '{"by":1}' },
      { type: 'function_call_output', call_id: 'call-0-0', output: '{"count":5}' },
      { type: 'function_call', call_id: 'call-1-0', name: 'add.one', arguments: '{"by":2}' },
      { type: 'function_call_output', call_id: 'call-1-0', output: '{"count":7}' },
      { type: 'message', role: 'assistant', content: [{ type: 'output_text', text: 'It is 7.' }] },
    ],
  });
});

test('it keeps the rules of environments', async () => {
  await using server = await gymServer();
  const report = await checkEnv(`nemo-gym:${server.url}`, { options: { path: file }, actions: 60 });
  expect(report.findings).toEqual([]);
  expect(report.passed.length).toBeGreaterThan(20);
});

test('sessions stay apart, and a file of test rows is used whole', async () => {
  await using server = await gymServer();
  await using env = await opened(server.url, { testPath: file });
  expect([await env.tasks.train.length, await env.tasks.test.length]).toEqual([10, 10]);
  const tasks = await Promise.all([0, 1, 2, 3].map(async (index) => env.tasks.train.get(index)));
  const played = await Promise.all(
    tasks.map((task, index) => play(env, task, [add(1), add(index), 'Done.'])),
  );
  expect(played.map(({ reward }) => reward)).toEqual([0, 0, 1, 0]);
});

test('an error of a tool is its answer, whatever its status, so that a model cannot escape by it', async () => {
  await using server = await gymServer();
  await using env = await opened(server.url);
  const played = await play(env, await env.tasks.train.get(0), [
    [{ name: 'broken', arguments: { by: 1 } }],
    'No.',
  ]);
  expect(played).toMatchObject({ reward: 0, outcome: { kind: 'terminated' } });
  expect(played.steps[0]!.calls[0]).toMatchObject({
    text: '{"detail":"division by zero"}',
  });
});

test('an episode that is cut off is verified too', async () => {
  await using server = await gymServer();
  await using env = await opened(server.url, { maxTurns: 2 });
  const played = await play(env, await env.tasks.train.get(0), [add(1), add(2), 'Done.']);
  expect(played).toMatchObject({ reward: 1, outcome: { kind: 'truncated', reason: 'max_turns' } });
  expect(server.bodies['/verify']).toHaveLength(1);
});

const status =
  (code: number): Reply =>
  (response) =>
    response.writeHead(code).end('{}');
const saying =
  (body: string): Reply =>
  (response) =>
    response.end(body);
const silent: Reply = () => {};
const endless: Reply = (response) => {
  const chunk = Buffer.alloc(2 ** 20, ' ');
  const more = () => {
    while (!response.destroyed && response.write(chunk));
  };
  response.on('drain', more);
  more();
};

test.each<[path: string, name: string, reply: Reply, why: RegExp]>([
  ['/seed_session', 'is not there', status(404), /is no resources server of NeMo Gym/],
  ['/seed_session', 'refuses the row', status(422), /seed_session answers with status 422/],
  [
    '/seed_session',
    'never answers',
    silent,
    /seed_session failed: no answer within 0.5 s, the option verifyTimeout/,
  ],
  [
    '/seed_session',
    'has MCP only',
    saying('{"mcp": {"url_path": "/mcp"}}'),
    /offers its tools over MCP only/,
  ],
  ['/add.one', 'is away', status(503), /add.one failed: status 503/],
  ['/add.one', 'never ends', endless, /more than 67108864 bytes/],
  ['/verify', 'fails', status(500), /verify answers with status 500/],
  ['/verify', 'never answers', silent, /verify failed: no answer within 0.5 s/],
  ['/verify', 'says no reward', saying('{"reward": "1"}'), /verify gives no reward/],
  ['/verify', 'says no number', saying('{"reward": 1e999}'), /verify gives no reward/],
  ['/verify', 'says no JSON', saying('<html>'), /verify gives no reward: <html>/],
  ['/verify', 'never ends', endless, /more than 67108864 bytes/],
  [
    '/verify',
    'redirects',
    (response) => response.writeHead(307, { location: 'http://127.0.0.1:1/' }).end(),
    /verify failed: unexpected redirect/,
  ],
])('a server whose %s %s pays for no episode', async (path, _name, reply, why) => {
  await using server = await gymServer({ [path]: reply });
  await using env = await opened(server.url, { verifyTimeout: /never answers/.test(_name) ? 500 : 20_000 });
  const row = {
    ...rowOf(0),
    ...(_name === 'has MCP only' && { responses_create_params: { input: 'Count.' } }),
  };
  const ended = await play(env, row, [add(3), 'Done.']).then(
    ({ outcome, reward }) => (outcome.kind === 'aborted' ? outcome.cause.message : String(reward)),
    messageOf,
  );
  expect(ended).toMatch(why);
});

test('rows that cannot be read are refused with their place', async () => {
  const bad = join(await newFolder(), 'bad.jsonl');
  await using server = await gymServer();
  const refusal = async (row: unknown) => {
    await writeFile(bad, `${JSON.stringify(row)}\n`);
    await using env = await opened(server.url, { path: bad });
    return (async () => env.tasks.train.get(0))().then(() => 'read', messageOf);
  };
  const params = (given: object) => ({ responses_create_params: given });
  expect(await refusal([1])).toMatch(
    /bad\.jsonl:1 is no row that can be played: a row is a JSON object with responses_create_params/,
  );
  expect(await refusal(params({}))).toMatch(/has no input/);
  expect(await refusal(params({ input: [] }))).toMatch(/has an empty input/);
  const image = { role: 'user', content: [{ type: 'input_image', image_url: 'data:' }] };
  expect(await refusal(params({ input: [image] }))).toMatch(
    /a part of the type "input_image": policies read texts only/,
  );
  const search = { input: 'Look.', tools: [{ type: 'web_search' }] };
  expect(await refusal(params(search))).toMatch(
    /a tool of the type "web_search": only functions are called here/,
  );
});
