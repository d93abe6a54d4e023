import { type Observation, type Policy, scriptedPolicy } from '@toolenv/core';
import { baselinePolicy } from '@toolenv/training';
import { type BaselineKind, baselineKinds } from '@toolenv/training/runs';
import { expect, test } from 'vitest';

const search = {
  name: 'lookup',
  description: '',
  inputSchema: { type: 'object', properties: { query: { type: 'string' } } },
};
const start: Observation = {
  messages: [
    { role: 'system', content: 'Search.' },
    { role: 'user', content: 'Who?' },
  ],
  tools: [{ ...search, name: 'other', inputSchema: { type: 'object' } }, search],
};
const found: Observation = {
  messages: [
    ...start.messages,
    { role: 'assistant', content: '' },
    { role: 'tool', content: 'Ada: first', toolCallId: 'retrieval', name: 'lookup' },
  ],
  tools: start.tools,
};
const sampling = { maxTokens: 9, temperature: 0, seed: 1, episodeId: 'e' };

/** A model that calls a tool whatever it reads, and what it reads. */
function caller(): { policy: Policy; read: Observation[] } {
  const read: Observation[] = [];
  const policy = scriptedPolicy((observation) => {
    read.push(observation);
    return { text: 'call', toolCalls: [{ id: '1', name: 'lookup', arguments: {} }], stopReason: 'tool_call' };
  });
  return { policy, read };
}

test('direct shows no tools and takes the first text as the answer', async () => {
  const { policy, read } = caller();
  const action = await baselinePolicy('direct', policy).act(start, sampling);
  expect(action).toMatchObject({ text: 'call', toolCalls: [], stopReason: 'stop' });
  expect(read).toEqual([{ messages: start.messages, tools: [] }]);
});

test('naive-rag searches once for the question, with the tool that takes a query, and must answer then', async () => {
  const { policy, read } = caller();
  const rag = baselinePolicy('naive-rag', policy);
  const first = await rag.act(start, sampling);
  expect(first.toolCalls).toMatchObject([{ name: 'lookup', arguments: { query: 'Who?' } }]);
  expect(read).toEqual([]);
  expect((await rag.act(found, sampling)).toolCalls).toEqual([]);
  expect(read[0]!.messages.at(-1)!.content).toBe('Ada: first\nWho?');
  expect(read[0]!.tools).toEqual([]);
  await rag.endEpisode!('e');
  expect((await rag.act(start, sampling)).toolCalls).toHaveLength(1);
});

test('base-tool-call lets the policy call tools', async () => {
  const { policy, read } = caller();
  const action = await baselinePolicy('base-tool-call', policy).act(start, sampling);
  expect(action.toolCalls).toHaveLength(1);
  expect(read).toEqual([start]);
});

test.each(baselineKinds)('%s takes another instruction', async (kind: BaselineKind) => {
  const { policy, read } = caller();
  const baseline = baselinePolicy(kind, policy, { instruction: 'Be brief.' });
  await baseline.act(start, sampling);
  await baseline.act(found, sampling);
  expect(read.at(-1)!.messages[0]).toEqual({ role: 'system', content: 'Be brief.' });
  expect(read.at(-1)!.messages.filter(({ role }) => role === 'system')).toHaveLength(1);
});

test('naive-rag names the tools of an environment that cannot be searched', async () => {
  const bare = { messages: start.messages, tools: [start.tools[0]!] };
  const act = baselinePolicy('naive-rag', caller().policy).act(bare, sampling);
  await expect(act).rejects.toMatchObject({ code: 'usage.baseline' });
  await expect(act).rejects.toThrow('the tools of the environment are other');
});
