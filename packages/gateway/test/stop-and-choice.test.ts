/** What an agent may ask of an answer: texts that end it, and a call. */
import type { SamplingOptions } from '@toolenv/core';
import { expect, test } from 'vitest';
import { calling, play, policyOf } from './agents.ts';
import { converse, lookup, post, type Sent, say } from './chat-client.ts';

const q: Sent[] = [{ role: 'user', content: 'q' }];

/** A policy that keeps the stop texts of each turn. */
function stopping(texts: readonly string[]) {
  const stops: (SamplingOptions['stop'] | undefined)[] = [];
  const policy = policyOf((_, { stop }, call) => {
    stops.push(stop);
    return texts[call]!;
  });
  return { policy, stops };
}

test.each([
  ['/chat/completions', { messages: q, stop: ['END', ''] }],
  ['/chat/completions', { messages: q, stop: 'END', stream: true }],
  ['/responses', { input: 'q', stop: ['END'] }],
  ['/messages', { messages: q, max_tokens: 9, stop_sequences: ['END'] }],
])('the stop texts of a request to %s end the turn of the policy', async (path, body) => {
  const { policy, stops } = stopping(['right']);
  const { steps, reward } = await play(async (context) => {
    const response = await post(context, path, { model: 'policy', ...body });
    expect(response.status).toBe(200);
    return /right/.exec(await response.text())![0];
  }, policy);
  expect([stops, steps[0]!.observation.stop, reward]).toEqual([[['END']], ['END'], 1]);
});

test('each request has its own stop texts', async () => {
  const { policy, stops } = stopping(['a', 'b', 'right']);
  await play(async (context) => {
    await say(context, q, { stop: ['one'] });
    await say(context, [{ role: 'user', content: 'other' }]);
    return (await say(context, q, { stop: ['two', 'three'] })).content;
  }, policy);
  expect(stops).toEqual([['one'], undefined, ['two', 'three']]);
});

const named = { type: 'function', function: { name: 'lookup' } };
test.each([
  ['/chat/completions', { messages: q, tools: [lookup], tool_choice: 'required' }, 'required'],
  ['/chat/completions', { messages: q, tools: [lookup], tool_choice: named }, { name: 'lookup' }],
  ['/chat/completions', { messages: q, tools: [lookup], tool_choice: 'auto' }, undefined],
  [
    '/responses',
    { input: 'q', tools: [{ ...lookup.function, type: 'function' }], tool_choice: 'required' },
    'required',
  ],
  [
    '/responses',
    {
      input: 'q',
      tools: [{ ...lookup.function, type: 'function' }],
      tool_choice: { type: 'function', name: 'lookup' },
    },
    { name: 'lookup' },
  ],
  [
    '/messages',
    { messages: q, max_tokens: 9, tools: [{ name: 'lookup' }], tool_choice: { type: 'any' } },
    'required',
  ],
  [
    '/messages',
    {
      messages: q,
      max_tokens: 9,
      tools: [{ name: 'lookup' }],
      tool_choice: { type: 'tool', name: 'lookup' },
    },
    { name: 'lookup' },
  ],
])(
  'a call that a request to %s wants is recorded, and the policy decides: %j',
  async (path, body, choice) => {
    const { steps } = await play(
      async (context) => {
        expect((await post(context, path, { model: 'policy', ...body })).status).toBe(200);
        return 'right';
      },
      () => 'no call',
    );
    expect(steps[0]!.action.text).toBe('no call');
    expect(steps[0]!.info.toolChoice).toEqual(choice);
  },
);

test('an agent that requires a call in each turn plays to its end', async () => {
  const { reward, steps } = await play(
    (context) => converse(context, 'q', { tool_choice: 'required', stop: ['Observation:'] }),
    (_, __, call) => (call === 0 ? calling('sea') : 'right'),
  );
  expect([reward, steps.length]).toEqual([1, 2]);
  expect(steps.map(({ info }) => info.toolChoice)).toEqual(['required', 'required']);
});
