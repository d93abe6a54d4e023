/** Nothing that a tool returns, throws or leaves behind escapes from its episode. */
import { setTimeout as sleep } from 'node:timers/promises';
import { afterEach, beforeEach, expect, test, vi } from 'vitest';
import { readToolResult } from '../../src/boundary/read-tool-result.ts';
import { type Tool, text } from '../../src/index.ts';
import { dispatch } from '../../src/tools/index.ts';
import { climb, LadderEnv, ladderLimits, openLadder } from '../ladder-env.ts';
import { climber, play } from '../ladder-play.ts';

const escaped = vi.fn();
beforeEach(() => {
  process.on('unhandledRejection', escaped);
  process.on('uncaughtException', escaped);
});
afterEach(async () => {
  await sleep(5);
  process.off('unhandledRejection', escaped);
  process.off('uncaughtException', escaped);
  expect(escaped).not.toHaveBeenCalled();
});

function call(execute: Tool['execute'], signal?: AbortSignal) {
  const limits = { ...ladderLimits, toolTimeout: 20 };
  const calls = [{ id: 'c', name: 'bad', arguments: {} }];
  const tools = [{ name: 'bad', description: 'bad', inputSchema: { type: 'object' }, execute }];
  return dispatch(calls, tools, { limits, episodeId: 'e', seed: 1, firstCallIndex: 0, signal });
}

const itself: { content: unknown[] } = { content: [] };
itself.content.push(itself);
let nested: unknown = 1;
for (let level = 0; level < 100_000; level++) nested = [nested];
const throwing = (): never => {
  throw new Error('a trap');
};

// Made in the test, so that a failure does not print them.
const millions = () => new Array(1e7).fill(null);

test.each<[string, () => unknown, RegExp]>([
  ['no content, but millions of items', () => ({ data: millions() }), /no "content" array/],
  [
    'millions of items beside its content',
    () => ({ ...text('x'), structuredContent: millions() }),
    /more than 16777216 characters\. \(TOOL-5\)/,
  ],
  ['millions of blocks', () => ({ content: millions() }), /more than 16777216 characters/],
])('a result with %s is refused without looking at each of them', (_, make, message) => {
  const result = make();
  const before = process.cpuUsage();
  expect(() => readToolResult(result)).toThrow(message);
  // A look at each item takes seconds of the processor's time.
  const { user, system } = process.cpuUsage(before);
  expect((user + system) / 1000).toBeLessThan(300);
});

test.each<[string, unknown, RegExp]>([
  [
    'a null block',
    { content: [null] },
    /at \/content\/0: expected must be object; received null\. \(TOOL-4\)/,
  ],
  ['a text that is no string', { content: [{ type: 'text', text: 7 }] }, /\/content\/0\/text.*\(TOOL-4\)/],
  [
    'an image whose data is an object',
    { content: [{ type: 'image', data: { length: 4 }, mimeType: 'image/png' }] },
    /\/content\/0\/data.*\(TOOL-4\)/,
  ],
  ['an image of null', { content: [{ type: 'image', data: null, mimeType: null }] }, /\(TOOL-4\)/],
  ['a resource without a resource', { content: [{ type: 'resource' }] }, /resource.*\(TOOL-4\)/],
  [
    'a content that is no array',
    { content: 'text' },
    /no "content" array of blocks: return a text.*\(TOOL-4\)/,
  ],
  ['an isError that is no boolean', { ...text('x'), isError: 'no' }, /\/isError.*\(TOOL-4\)/],
  [
    'a getter that throws',
    Object.defineProperty({}, 'content', { enumerable: true, get: throwing }),
    /a trap \(TOOL-5\)/,
  ],
  ['a proxy that throws', new Proxy({}, { ownKeys: throwing }), /a trap \(TOOL-5\)/],
  ['a toJSON that throws', { content: [{ type: 'text', text: 'x', toJSON: throwing }] }, /a trap \(TOOL-5\)/],
  ['a function', { ...text('x'), structuredContent: { f: throwing } }, /holds a function\. \(TOOL-5\)/],
  ['NaN', { ...text('x'), structuredContent: { mean: Number.NaN } }, /holds NaN\. \(TOOL-5\)/],
  ['bytes', { ...text('x'), structuredContent: new Uint8Array(1) }, /typed array\. \(TOOL-5\)/],
  ['itself', itself, /nests more than 64 levels deep\. \(TOOL-5\)/],
  [
    '100,000 levels',
    { ...text('x'), structuredContent: nested },
    /nests more than 64 levels deep\. \(TOOL-5\)/,
  ],
  ['32 million characters', text('x'.repeat(2 ** 25)), /more than 16777216 characters\. \(TOOL-5\)/],
])('a result with %s is a failure of the tool that names the rule', async (_, result, message) => {
  const failing = call(async () => result as never);
  await expect(failing).rejects.toMatchObject({
    code: 'infrastructure.tool_failed',
    message: expect.stringMatching(message),
  });
});

test.each<[string, unknown]>([
  ['an object without a prototype', Object.create(null)],
  ['a toString that throws', { toString: throwing }],
  ['a proxy that throws', new Proxy({}, { get: throwing, getPrototypeOf: throwing, has: throwing })],
  ['an error whose message throws', Object.defineProperty(new Error(), 'message', { get: throwing })],
])('a tool that throws %s aborts its episode', async (_, thrown) => {
  await expect(call(() => Promise.reject(thrown))).rejects.toMatchObject({
    code: 'infrastructure.tool_failed',
    message: expect.stringMatching(/^Tool "bad" failed: /),
  });
});

test('a listener of the signal that throws, at once or later, ends no process', async () => {
  let heard = 0;
  const hanging = call(async (_, { signal }) => {
    signal.addEventListener('abort', () => {
      heard += 1;
      throw new Error('in a listener');
    });
    signal.addEventListener('abort', async () => {
      heard += 1;
      throw new Error('in an async listener');
    });
    signal.onabort = () => {
      heard += 1;
      throw new Error('in onabort');
    };
    signal.addEventListener('abort', { handleEvent: throwing });
    return new Promise(() => {});
  });
  await expect(hanging).rejects.toMatchObject({ code: 'infrastructure.tool_timeout' });
  expect(heard).toBe(3);
});

test('listeners are added once, are removed, and hear the reason as on any signal', async () => {
  const heard: string[] = [];
  const once = () => void heard.push('once');
  const removed = () => void heard.push('removed');
  const hanging = call(async (_, { signal }) => {
    signal.addEventListener('abort', once);
    signal.addEventListener('abort', once);
    signal.addEventListener('abort', removed);
    signal.removeEventListener('abort', removed);
    signal.onabort = removed;
    signal.onabort = () => void heard.push('onabort');
    AbortSignal.any([signal]).addEventListener('abort', () => void heard.push('any'));
    await sleep(10_000, undefined, { signal }).catch((error: Error) => heard.push(error.name));
    return text('late');
  });
  await expect(hanging).rejects.toThrow('did not answer');
  await sleep(0);
  expect(heard.sort()).toEqual(['AbortError', 'any', 'onabort', 'once']);
});

test('a tool that rejects long after its time limit ends no process', async () => {
  let rejectLate = (_error: Error) => {};
  const late = call(() => new Promise((_resolve, reject) => (rejectLate = reject)));
  await expect(late).rejects.toMatchObject({ code: 'infrastructure.tool_timeout' });
  rejectLate(new Error('too late'));
});

test('a result is read once, as plain data, and without a prototype of its own', () => {
  let reads = 0;
  const content = [{ type: 'text', text: 'fine' }];
  const result = {
    get content() {
      reads += 1;
      if (reads > 1) throw new Error('read again');
      return content;
    },
    structuredContent: JSON.parse('{"__proto__": {"admin": true}, "when": 0}'),
  };
  result.structuredContent.when = new Date(0);
  const read = readToolResult(result);
  content[0]!.text = 'changed';
  expect(read.content).toEqual([{ type: 'text', text: 'fine' }]);
  const data = read.structuredContent as Record<string, unknown>;
  expect(data.when).toBe('1970-01-01T00:00:00.000Z');
  expect(Object.getPrototypeOf(data)).toBe(Object.prototype);
  expect(Object.keys(data)).toEqual(['__proto__', 'when']);
  expect(data.admin).toBeUndefined();
});

test('unknown blocks, annotations and data pass unchanged', () => {
  const result = {
    content: [
      { type: 'text', text: 'x', annotations: { audience: ['user'] }, _meta: { a: null } },
      { type: 'hologram', frames: [1, 2.5, -0] },
    ],
    structuredContent: { rows: [[1, 'a', null, true]], none: undefined },
    isError: true,
  };
  const { structuredContent: _, ...rest } = result;
  expect(readToolResult(result)).toEqual({ ...rest, structuredContent: { rows: [[1, 'a', null, true]] } });
});

test('one malformed result aborts one episode and leaves the others', async () => {
  let calls = 0;
  const sometimes: Tool = {
    ...climb,
    async execute(args, context) {
      calls += 1;
      return calls === 2 ? ({ content: [null] } as never) : climb.execute(args, context);
    },
  };
  const played = await play(
    openLadder(() => new LadderEnv(sometimes)),
    climber(),
    [1, 1, 1, 1],
  );
  expect(played.map(({ outcome }) => outcome.kind).sort()).toEqual([
    'aborted',
    'terminated',
    'terminated',
    'terminated',
  ]);
});
