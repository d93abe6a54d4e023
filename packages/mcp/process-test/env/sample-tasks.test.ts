/** Tasks that want calls, and the sample tasks that `toolenv init` makes of a server's tools. */
import { openEnv, playTask, type Scripted } from '@toolenv/core';
import { defineMcpEnv } from '@toolenv/mcp';
import { afterAll, expect, test } from 'vitest';
import { sampleTasks } from '../../src/env/init-mcp-env.ts';
import { realServer } from '../../test/servers.ts';

const task = { prompt: 'Add 2 and 3.', answer: '5', calls: { 'get-sum': { a: 2 } } };
const env = await openEnv(
  defineMcpEnv({
    name: 'sums-v1',
    server: realServer('everything'),
    tasks: [task],
    only: ['get-sum', 'echo'],
  }),
);
afterAll(() => env.close());

test.each<[string, number, Scripted[]]>([
  ['the call and the answer', 1, [[{ name: 'get-sum', arguments: { a: 2, b: 3 } }], '5']],
  ['the answer alone', 0, ['5']],
  ['another tool', 0, [[{ name: 'echo', arguments: { message: '5' } }], '5']],
  ['other arguments', 0, [[{ name: 'get-sum', arguments: { a: 3, b: 2 } }], '5']],
  ['a mistaken call', 0, [[{ name: 'get-sum', arguments: { a: 2, b: 'three' } }], '5']],
  ['a wrong answer', 0, [[{ name: 'get-sum', arguments: { a: 2, b: 3 } }], '6']],
])('a task that wants a call: %s earns %d', async (_, reward, script) => {
  expect((await playTask(env, await env.tasks.test.get(0), script)).reward).toBe(reward);
});

const tool = (inputSchema: object, annotations?: object) =>
  ({ name: 'tool', inputSchema, annotations }) as never;
const argumentsFor = (properties: object, rest: object = {}) =>
  sampleTasks([tool({ type: 'object', properties, required: Object.keys(properties), ...rest })])[0]?.calls;

test('sample tasks have small arguments that the schema allows', () => {
  const properties = {
    named: { enum: ['b', 'a'] },
    shown: { type: 'string', examples: ['Oslo'] },
    usual: { type: 'integer', default: 7 },
    long: { type: 'string', minLength: 6 },
    short: { type: 'string', maxLength: 2 },
    many: { type: 'array', minItems: 2, items: { $ref: '#/$defs/point' } },
    either: { anyOf: [{ type: 'number', minimum: 3 }, { type: 'null' }] },
    least: { type: 'number', exclusiveMinimum: 9 },
    most: { type: 'integer', maximum: -2 },
  };
  const point = { type: 'object', properties: { x: { type: 'number' } }, required: ['x'] };
  expect(argumentsFor(properties, { $defs: { point } })).toEqual({
    tool: {
      named: 'b',
      shown: 'Oslo',
      usual: 7,
      long: 'text..',
      short: 'te',
      many: [{ x: 1 }, { x: 1 }],
      either: 3,
      least: 10,
      most: -2,
    },
  });
});

test('a tool without small arguments, and a tool that destroys, have no sample task', () => {
  expect(argumentsFor({ date: { type: 'string', pattern: '^\\d{4}-\\d{2}$' } })).toBeUndefined();
  const endless = { type: 'object', required: ['next'], properties: { next: { $ref: '#' } } };
  expect(sampleTasks([tool(endless)])).toEqual([]);
  expect(sampleTasks([tool({ type: 'object' }, { destructiveHint: true })])).toEqual([]);
  expect(sampleTasks([tool({ type: 'object' }, { readOnlyHint: true })])).toHaveLength(1);
});
