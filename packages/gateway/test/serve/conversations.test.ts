/** Conversations of clients that go on keep the cache of the policy, and no others do. */
import { join } from 'node:path';
import type { Action, Message } from '@toolenv/core';
import { loadPolicy } from '@toolenv/policy';
import { expect, onTestFinished, test } from 'vitest';
import type { ServePolicyOptions } from '../../src/index.ts';
import { asking, type Json, serving } from './served-policy.ts';

const lookup = {
  type: 'function',
  function: { name: 'lookup', parameters: { type: 'object', properties: {} } },
};
const question = { role: 'user', content: 'How long is sea?' };

/** Calls a tool, then answers. */
async function talking(options: ServePolicyOptions = {}) {
  const policy = asking(({ observation }): Action | string => {
    const count = observation.messages.filter(({ role }) => role === 'assistant').length;
    if (count > 0) return `Answer ${count}`;
    const toolCalls = [{ id: 'call-0', name: 'lookup', arguments: { word: 'sea', n: 1 } }];
    return { text: 'I look. ', toolCalls, stopReason: 'tool_call' };
  });
  const { ask } = await serving(policy, options);
  const say = async (messages: object[]): Promise<Json> => {
    const answer = await ask('/v1/chat/completions', { messages, tools: [lookup] });
    return ((await answer.json()) as Json).choices[0].message;
  };
  const episodes = () => policy.asked.map(({ options: { episodeId } }) => episodeId);
  return { policy, say, episodes };
}

/** As clients repeat it: trimmed, and its arguments written anew. */
function repeated({ role, content, tool_calls }: Json): object {
  const calls = tool_calls.map((call: Json) => {
    const { name, arguments: args } = call.function;
    const { word, n } = JSON.parse(args);
    return { ...call, function: { name, arguments: JSON.stringify({ n, word }, null, 1) } };
  });
  return { role, content: content.trim(), tool_calls: calls };
}

test('a conversation that grows is one episode, with the words and ids of the policy', async () => {
  const { policy, say, episodes } = await talking();
  const said = await say([question]);
  const id = said.tool_calls[0].id;
  expect(id).not.toBe('call-0');
  const messages = [question, repeated(said), { role: 'tool', tool_call_id: id, content: '3' }];
  const answer = await say(messages);
  await say([...messages, answer, { role: 'user', content: 'Thanks' }]);
  const own: Message[] = [
    { role: 'user', content: 'How long is sea?' },
    {
      role: 'assistant',
      content: 'I look. ',
      toolCalls: [{ id: 'call-0', name: 'lookup', arguments: { word: 'sea', n: 1 } }],
    },
    { role: 'tool', content: '3', toolCallId: 'call-0', name: 'lookup' },
    { role: 'assistant', content: 'Answer 1' },
    { role: 'user', content: 'Thanks' },
  ];
  expect(policy.asked[2]!.observation.messages).toEqual(own);
  expect(episodes()).toEqual(['conversation-1', 'conversation-1', 'conversation-1']);
  expect(policy.ended).toEqual([]);
});

test('a call of another model keeps the digits of its integers', async () => {
  const { policy, say } = await talking();
  const of = (id: string) => ({
    role: 'assistant',
    content: null,
    tool_calls: [{ id: 'a', type: 'function', function: { name: 'lookup', arguments: `{"id": ${id}}` } }],
  });
  const result = { role: 'tool', tool_call_id: 'a', content: '3' };
  await say([question, of('2512292042121000001'), result]);
  await say([question, of('2512292042121000002'), result]);
  const said = policy.asked.map(({ observation }) => observation.messages[1]);
  expect(said).toMatchObject([
    { toolCalls: [{ arguments: { id: '2512292042121000001' } }] },
    { toolCalls: [{ arguments: { id: '2512292042121000002' } }] },
  ]);
});

test('an edited past is another episode, as the client writes it', async () => {
  const { policy, say, episodes } = await talking();
  const said = await say([question]);
  const id = said.tool_calls[0].id;
  const edited = { ...said, content: 'I never look.' };
  await say([question, edited, { role: 'tool', tool_call_id: id, content: '3' }]);
  expect(episodes()).toEqual(['conversation-1', 'conversation-2']);
  expect(policy.asked[1]!.observation.messages.slice(1)).toEqual([
    {
      role: 'assistant',
      content: 'I never look.',
      toolCalls: [{ id, name: 'lookup', arguments: { word: 'sea', n: 1 } }],
    },
    { role: 'tool', content: '3', toolCallId: id, name: 'lookup' },
  ]);
});

test('clients that begin alike are told apart by the ids of their calls, and asking again is another episode', async () => {
  const { say, episodes } = await talking();
  const [one, two] = [await say([question]), await say([question])];
  const goOn = (said: Json) =>
    say([question, repeated(said), { role: 'tool', tool_call_id: said.tool_calls[0].id, content: '3' }]);
  await goOn(two);
  await goOn(one);
  await goOn(one);
  expect(episodes().map((id) => Number(id!.split('-')[1]))).toEqual([1, 2, 2, 1, 3]);
});

test('a client that gives calls ids of its own keeps the cache', async () => {
  const { policy, say, episodes } = await talking();
  const said = await say([question]);
  const renamed = { ...said, tool_calls: [{ ...said.tool_calls[0], id: 'mine-7' }] };
  const messages = [question, repeated(renamed), { role: 'tool', tool_call_id: 'mine-7', content: '3' }];
  const answer = await say(messages);
  await say([...messages, answer, { role: 'user', content: 'Thanks' }]);
  expect(episodes()).toEqual(['conversation-1', 'conversation-1', 'conversation-1']);
  expect(policy.asked[2]!.observation.messages[2]).toEqual({
    role: 'tool',
    content: '3',
    toolCallId: 'call-0',
    name: 'lookup',
  });
  // The first client to go on has the older conversation, and the second the other: they say the same.
  await say([question]);
  await say([question]);
  await say(messages);
  await say(messages);
  expect(
    episodes()
      .slice(3)
      .map((id) => Number(id!.split('-')[1])),
  ).toEqual([2, 3, 2, 3]);
});

test('the policy forgets the conversation that has been idle for longest, and all of them after a while', async () => {
  const { policy, say } = await talking({ conversations: 2, idleTimeout: 300 });
  for (let i = 0; i < 4; i++) await say([question]);
  expect(policy.ended).toEqual(['conversation-1', 'conversation-2']);
  await expect.poll(() => policy.ended).toEqual([1, 2, 3, 4].map((i) => `conversation-${i}`));
});

test('no conversation is kept where none may be', async () => {
  const { policy, say, episodes } = await talking({ conversations: 0 });
  await say([question]);
  expect([episodes(), policy.ended]).toEqual([[undefined], []]);
});

test('the tiny policy gives served conversations the tokens that it gives in process', async () => {
  const checkpoint = join(import.meta.dirname, '../../../checkpoints/tiny');
  const policy = await loadPolicy(checkpoint, { threads: 1 });
  onTestFinished(() => policy.close());
  const { ask } = await serving(policy, { temperature: 0, maxTokens: 24 });
  const search = {
    name: 'search',
    description: 'Searches.',
    inputSchema: { type: 'object', properties: { query: { type: 'string' } } },
  };
  const tools = [{ type: 'function', function: { ...search, parameters: search.inputSchema } }];
  const questions = ['Where was Anna born?', 'Who wrote the book?', 'Where is the river?'];
  const served = await Promise.all(
    questions.map(async (content) => {
      const messages: object[] = [{ role: 'user', content }];
      const rows: number[][] = [];
      for (let turn = 0; turn < 3; turn++) {
        const body = { messages, tools, return_token_ids: true };
        const answer = (await (await ask('/v1/chat/completions', body)).json()) as Json;
        rows.push([...answer.prompt_token_ids, ...answer.choices[0].token_ids]);
        const { message } = answer.choices[0];
        messages.push(message);
        for (const { id } of message.tool_calls ?? [])
          messages.push({ role: 'tool', tool_call_id: id, content: 'Nothing.' });
        if (!message.tool_calls) messages.push({ role: 'user', content: 'Go on.' });
      }
      return rows;
    }),
  );
  for (const [i, content] of questions.entries()) {
    const messages: Message[] = [{ role: 'user', content }];
    for (let turn = 0; turn < 3; turn++) {
      const options = { maxTokens: 24, temperature: 0, seed: 1, episodeId: `direct-${i}`, batchDelay: 0 };
      const action = await policy.act({ messages: [...messages], tools: [search] }, options);
      expect(served[i]![turn]).toEqual([...action.tokens!.prompt, ...action.tokens!.action]);
      const toolCalls = action.toolCalls.filter((call) => 'id' in call);
      messages.push({ role: 'assistant', content: action.text, ...(toolCalls.length > 0 && { toolCalls }) });
      for (const { id, name } of toolCalls)
        messages.push({ role: 'tool', toolCallId: id, name, content: 'Nothing.' });
      if (toolCalls.length === 0) messages.push({ role: 'user', content: 'Go on.' });
    }
    // Each prompt begins with the tokens of the turn before.
    const [first, second] = served[i]!;
    expect(second!.slice(0, first!.length)).toEqual(first);
  }
});
