import { setImmediate as nextTurn, setTimeout as sleep } from 'node:timers/promises';
import { afterEach, beforeEach, expect, test, vi } from 'vitest';
import { type CallProgress, type Tool, type ToolContext, ToolEnvError, text } from '../../src/index.ts';
import { registerSecret } from '../../src/protocol/secrets.ts';
import { type DispatchOptions, dispatch } from '../../src/tools/index.ts';
import { climb, ladderLimits } from '../ladder-env.ts';

const options: DispatchOptions = {
  limits: { ...ladderLimits, maxCallsPerTurn: 8, toolTimeout: 60_000 },
  episodeId: 'e',
  seed: 1,
  firstCallIndex: 5,
};
/** For tools that never answer. */
const impatient = { ...options, limits: { ...options.limits, toolTimeout: 200 } };

function tool(name: string, execute: Tool['execute']): Tool {
  return { name, description: name, inputSchema: { type: 'object' }, execute };
}

function call(name: string, args: Record<string, unknown> = {}) {
  return { id: name, name, arguments: args };
}

const unhandled = vi.fn();
beforeEach(() => void process.on('unhandledRejection', unhandled));
afterEach(async () => {
  await sleep(0);
  process.off('unhandledRejection', unhandled);
  expect(unhandled).not.toHaveBeenCalled();
});

test('answers arguments that nest too deeply or are too long as a mistake', async () => {
  const deep = JSON.parse(`${'['.repeat(5000)}${']'.repeat(5000)}`);
  const calls = [{ deep }, { long: 'x'.repeat(70_000) }, { big: 1n }].map((args) => call('climb', args));
  const limits = { ...options.limits, maxToolCharacters: 1000 };
  const records = await dispatch(calls, [climb], { ...options, limits });
  expect(records.map(({ mistake }) => mistake)).toMatchObject([
    {
      code: 'invalid_arguments',
      path: '',
      expected: 'at most 64 levels of arrays and objects',
      received: 'a value with more than 64 levels',
    },
    { code: 'invalid_arguments', expected: 'at most 65536 characters of JSON' },
    { code: 'invalid_arguments', expected: 'JSON' },
  ]);
});

test('arguments named after the prototype change no object', async () => {
  const args = JSON.parse('{"__proto__": {"polluted": 1}, "constructor": {"prototype": {"polluted": 1}}}');
  await dispatch([call('climb', args), call('climb', { rungs: 1, ...args })], [climb], options);
  expect({}).not.toHaveProperty('polluted');
});

test('a long name is not repeated whole', async () => {
  const [record] = await dispatch([call('n'.repeat(1_000_000))], [climb], options);
  expect(record!.mistake).toMatchObject({ code: 'unknown_tool', received: `${'n'.repeat(77)}…` });
});

test('runs calls in parallel, each with its own index and random stream, and keeps their order', async () => {
  const seen: number[] = [];
  // One after another, none would end: the first waits for the third, and the third for the second.
  const slow = tool('slow', async ({ after }, { callIndex, rng }) => {
    while (after !== undefined && !seen.includes(Number(after))) await sleep(1);
    seen.push(callIndex);
    return text(`${callIndex}:${rng.int(1_000_000)}`);
  });
  const calls = [call('slow', { after: 7 }), call('slow', {}), call('slow', { after: 6 })];
  const first = await dispatch(calls, [slow], options);
  expect(seen).toEqual([6, 7, 5]);
  expect(first.map((record) => record.text.split(':')[0])).toEqual(['5', '6', '7']);
  expect(first.map((record) => record.call)).toEqual(calls);
  const again = await dispatch(calls, [slow], options);
  expect(again.map((record) => record.text)).toEqual(first.map((record) => record.text));
  expect(new Set(first.map((record) => record.text.split(':')[1])).size).toBe(3);
});

test('returns the mistakes of a model as data', async () => {
  const limits = { ...options.limits, maxCallsPerTurn: 4, maxToolCharacters: 1000 };
  const calls = [
    call('clim', { rungs: 1 }),
    { parseFailure: 'Unexpected end of JSON input', text: '{"name": "clim' },
    call('climb', { rungs: 0 }),
    call('climb', { rungs: 1 }),
    call('climb', { rungs: 1 }),
  ];
  const records = await dispatch(calls, [climb], { ...options, limits });
  expect(records.map(({ mistake }) => mistake?.code)).toEqual([
    'unknown_tool',
    'malformed_call',
    'invalid_arguments',
    undefined,
    'too_many_calls',
  ]);
  expect(records[0]!.text).toBe(
    'Error (unknown_tool) at /name: expected one of ["climb"]; received clim. Did you mean "climb"?',
  );
  expect(records[2]!.mistake).toMatchObject({ path: '/rungs', expected: 'must be >= 1', received: '0' });
  expect(records[3]).toMatchObject({ text: 'climbed 1', call: calls[3] });
});

test.each<[string, Tool['execute'], string]>([
  ['rejects', async () => Promise.reject(new Error('disk full')), 'Tool "bad" failed: disk full'],
  [
    'throws before it returns a promise',
    () => {
      throw new Error('at once');
    },
    'Tool "bad" failed: at once',
  ],
  ['throws a string', () => Promise.reject('nope'), 'Tool "bad" failed: nope'],
  [
    'throws a usage error',
    () => Promise.reject(new ToolEnvError('usage.key', 'no key')),
    'Tool "bad" failed: no key',
  ],
  [
    'answers undefined',
    async () => undefined as never,
    'Tool "bad" failed: it returned nothing: return a text',
  ],
  ['answers text', async () => 'text' as never, 'Tool "bad" failed: its result has no "content"'],
  [
    'returns no promise',
    () => ({ nothing: true }) as never,
    'Tool "bad" failed: its result has no "content"',
  ],
])('a tool that %s is an infrastructure fault', async (_, execute, message) => {
  const failure = dispatch([call('bad')], [tool('bad', execute)], options);
  await expect(failure).rejects.toThrow(message);
  await expect(failure).rejects.toMatchObject({ code: 'infrastructure.tool_failed' });
});

test('times out a tool that hangs, ignores its signal and rejects later', async () => {
  let rejectLate = (_error: Error) => {};
  const stubborn = tool('stubborn', () => new Promise((_resolve, reject) => (rejectLate = reject)));
  await expect(dispatch([call('stubborn')], [stubborn], impatient)).rejects.toMatchObject({
    code: 'infrastructure.tool_timeout',
    message: expect.stringContaining('Tool "stubborn" did not answer within 0.2 s'),
  });
  // An unhandled rejection would fail the test.
  rejectLate(new Error('too late'));
  await sleep(1);
});

test('a timeout names the tools that did not answer', async () => {
  const slow = tool('slow', (args) => (args.quick ? Promise.resolve(text('done')) : new Promise(() => {})));
  const quick = tool('quick', async () => text('done'));
  const calls = [call('slow', { quick: true }), call('slow'), call('quick')];
  await expect(dispatch(calls, [slow, quick], impatient)).rejects.toThrow(
    /^Tool "slow" did not answer within/,
  );
});

test('one failure stops the other calls of the turn and leaves no timer', async () => {
  let stopped: unknown;
  const waits = tool('waits', async (_, { signal }) => {
    await new Promise((_resolve, reject) => signal.addEventListener('abort', () => reject(signal.reason)));
    return text('never');
  }) as Tool;
  const watched = tool('watched', async (args, context) => {
    context.signal.addEventListener('abort', () => {
      stopped = context.signal.reason;
    });
    return waits.execute(args, context);
  });
  const fails = tool('fails', () => Promise.reject(new Error('first')));
  await noTimers();
  await expect(dispatch([call('watched'), call('fails')], [watched, fails], options)).rejects.toThrow(
    'first',
  );
  expect(stopped).toMatchObject({ code: 'infrastructure.tool_failed' });
  expect(timers()).toBe(0);
});

test('a copy of the context has the signal, even if it is read only after the timeout', async () => {
  let copy: ToolContext | undefined;
  let late: ToolContext | undefined;
  const copies = tool('copies', async (_, context) => {
    copy = { ...context };
    return text('');
  });
  const waits = tool('waits', async (_, context) => {
    late = context;
    return new Promise(() => {});
  });
  const calls = [call('copies'), call('waits')];
  await expect(dispatch(calls, [copies, waits], impatient)).rejects.toThrow('Tool "waits" did not answer');
  expect(copy).toMatchObject({ episodeId: 'e', callIndex: 5 });
  expect(copy!.signal.reason).toMatchObject({ code: 'infrastructure.tool_timeout' });
  expect(late!.signal).toBe(copy!.signal);
});

test('throws the reason of the caller’s signal, even if it aborted earlier', async () => {
  const forever = tool('forever', () => new Promise(() => {}));
  const reason = new Error('stop');
  const controller = new AbortController();
  const running = dispatch([call('forever')], [forever], { ...options, signal: controller.signal });
  controller.abort(reason);
  await expect(running).rejects.toBe(reason);
  await expect(
    dispatch([call('forever')], [forever], { ...options, signal: controller.signal }),
  ).rejects.toBe(reason);
});

test('shows the model the text of embedded resources and the type of other blocks', async () => {
  const content = [
    { type: 'text', text: 'see' },
    { type: 'resource', resource: { uri: 'file:///a', text: 'its text' } },
    { type: 'resource', resource: { uri: 'file:///b', blob: 'AAAA' } },
    { type: 'resource_link', uri: 'file:///c', name: 'c', description: 'the third' },
    { type: 'image', data: 'AAAA', mimeType: 'image/png' },
  ];
  const mixed = tool('mixed', async () => ({ content }));
  const [record] = await dispatch([call('mixed')], [mixed], {
    ...options,
    limits: { ...options.limits, maxToolCharacters: 999 },
  });
  expect(record!.text).toBe('see\nits text\n[resource]\n[resource_link file:///c] c: the third\n[image]');
});

test('accepts an infinite timeout', async () => {
  const limits = { ...options.limits, toolTimeout: Number.POSITIVE_INFINITY };
  const slow = tool('slow', async () => sleep(5, text('done')));
  const [record] = await dispatch([call('slow')], [slow], { ...options, limits });
  expect(record!.text).toBe('done');
});

test('cuts long text for the model without splitting a character', async () => {
  const big = tool('big', async () => text('x'.repeat(10_000_000)));
  const [record] = await dispatch([call('big')], [big], options);
  expect(record!.text).toBe(`${'x'.repeat(60)} […9999940 characters cut]`);
  const faces = tool('faces', async () => text(`x${'😀'.repeat(100)}`));
  const [whole] = await dispatch([call('faces')], [faces], options);
  expect(whole!.text).toBe(`x${'😀'.repeat(29)} […142 characters cut]`);
});

function timers(): number {
  return process.getActiveResourcesInfo().filter((name) => name === 'Timeout').length;
}

/** Waits until the timers of earlier tests and of the runner have ended. */
async function noTimers(): Promise<void> {
  while (timers() > 0) await nextTurn();
}

test("a tool's own limit of time ends its call, and no other tool's", async () => {
  const slow = { ...tool('slow', () => new Promise(() => {})), timeout: 15 };
  const slower = tool('slower', () => sleep(40, text('done')));
  expect((await dispatch([call('slower')], [slow, slower], options))[0]!.text).toBe('done');
  const never = tool('never', () => new Promise(() => {}));
  await expect(dispatch([call('never'), call('slow')], [slow, never], options)).rejects.toMatchObject({
    code: 'infrastructure.tool_timeout',
    message: 'Tool "slow" did not answer within 0.015 s: raise the tool\'s timeout or fix the tool.',
  });
  // The environment's limit holds for every tool.
  const both = dispatch([call('slow')], [{ ...slow, timeout: 60_000 }], impatient);
  await expect(both).rejects.toThrow("within 0.2 s: raise the environment's toolTimeout");
  const bad = dispatch([call('slow')], [{ ...slow, timeout: Number.NaN }], impatient);
  await expect(bad).rejects.toMatchObject({
    code: 'usage.tool_timeout',
    message: 'Tool "slow": its timeout is NaN: give milliseconds above 0.',
  });
});

test('progress that floods, is malformed or comes late does no harm', async () => {
  const reports: CallProgress[] = [];
  let late: ToolContext['progress'];
  registerSecret('sk-progress-1234');
  const floods = tool('floods', async (_, { progress }) => {
    late = progress;
    for (let i = 1; i <= 1_000_000; i++) progress!({ progress: i });
    for (const bad of [
      undefined,
      { progress: Number.NaN },
      { progress: '1' },
      {
        get progress() {
          throw new Error('no');
        },
      },
    ])
      progress!(bad as never);
    progress!({
      progress: 2_000_000,
      total: 2_000_000,
      message: `sk-progress-1234 ${'x'.repeat(10_000_000)}`,
    });
    return text('done');
  });
  const onProgress = (report: CallProgress) => void reports.push(report);
  await dispatch([call('floods')], [floods], { ...options, onProgress });
  late!({ progress: 3_000_000 });
  expect(reports.length).toBeLessThan(50);
  const about = { tool: 'floods', episodeId: 'e', callIndex: 5 };
  expect(reports[0]).toEqual({ progress: 1, ...about });
  const message = `[redacted] ${'x'.repeat(1000)}`.slice(0, 997);
  expect(reports.at(-1)).toEqual({ progress: 2_000_000, total: 2_000_000, message: `${message}…`, ...about });
});

test('the newest report is passed on while the call goes on, and leaves no timer', async () => {
  const reports: number[] = [];
  await noTimers();
  const counts = tool('counts', async (_, { progress }) => {
    for (let i = 1; i <= 3; i++) progress!({ progress: i });
    await vi.waitFor(() => expect(reports).toEqual([1, 3]), { interval: 5 });
    progress!({ progress: 4 });
    return text('done');
  });
  const onProgress = ({ progress }: CallProgress) => void reports.push(progress);
  await dispatch([call('counts')], [counts], { ...options, onProgress });
  expect(reports).toEqual([1, 3, 4]);
  expect(timers()).toBe(0);
});

test.each([1, 2])('an error of the listener at report %d ends the turn with that error', async (bad) => {
  const counts = tool('counts', async (_, { progress }) => {
    for (let i = 1; i <= 2; i++) progress!({ progress: i });
    return text('done');
  });
  const onProgress = ({ progress }: CallProgress) => {
    if (progress === bad) throw new Error('the listener failed');
  };
  const played = dispatch([call('counts')], [counts], { ...options, onProgress });
  await expect(played).rejects.toThrow(/^the listener failed$/);
});
