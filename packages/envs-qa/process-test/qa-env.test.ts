import {
  type Action,
  type Env,
  type EnvDefinition,
  type EnvHandle,
  openEnv,
  type Tool,
  type ToolFactory,
  type Transition,
} from '@toolenv/core';
import { goldTitles, type QaRecord, type WorldOptions } from '@toolenv/envs-qa';
import bridge from '@toolenv/envs-qa/bridge-v1';
import claims from '@toolenv/envs-qa/claims-v1';
import comparison from '@toolenv/envs-qa/comparison-v1';
import compose from '@toolenv/envs-qa/compose-v1';
import lookup from '@toolenv/envs-qa/lookup-v1';
import { createSearchTool, type SearchMaterial } from '@toolenv/tools-search';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';

/** The families of a world have the same documents: their searches share an index. */
const indexes = new Map<string, Promise<Tool>>();
const tools: Record<string, ToolFactory> = {
  async search(material) {
    const key = JSON.stringify(material);
    if (!indexes.has(key)) indexes.set(key, createSearchTool(material as SearchMaterial));
    return { ...(await indexes.get(key)!), close: async () => {} };
  },
};
afterAll(async () => {
  for (const index of indexes.values()) await (await index).close?.();
});

function search(query: string): Action {
  const call = { id: 'c', name: 'search', arguments: { query } };
  return { text: `search ${query}`, toolCalls: [call], stopReason: 'tool_call' };
}

function say(text: string): Action {
  return { text, toolCalls: [], stopReason: 'stop' };
}

/** Searches for each gold document by its title, then answers. */
async function playOracle(env: Env<QaRecord>, task: QaRecord): Promise<Transition[]> {
  const transitions: Transition[] = [];
  await env.reset({ task, seed: 1 });
  for (const title of goldTitles(task)) transitions.push(await env.step(search(title)));
  transitions.push(await env.step(say(`<answer>${task.answer}</answer>`)));
  await env.close();
  return transitions;
}

test.each([
  ['hops of compose-v1', () => openEnv(compose, { hops: [3] }, { seed: 3, tools }), 3],
  ['hops of claims-v1', () => openEnv(claims, { hops: [3] }, { seed: 3, tools }), 3],
  ['sorts of comparison-v1', () => openEnv(comparison, { sorts: ['yes-no'] }, { seed: 3, tools }), 2],
] as const)('the option %s chooses the questions', async (name, open, hops) => {
  await using env = await open();
  const records = await Promise.all(Array.from({ length: 40 }, (_, index) => env.tasks.test.get(index)));
  expect(records.map((record) => goldTitles(record).length)).toEqual(records.map(() => hops));
  const yes = records.filter(({ answer }) => answer === 'yes').length;
  const no = records.filter(({ answer }) => answer === 'no').length;
  expect([yes, no]).toEqual(name.endsWith('compose-v1') ? [0, 0] : [20, 20]);
});

describe.each<[string, EnvDefinition<QaRecord, WorldOptions>]>([
  ['lookup-v1', lookup],
  ['bridge-v1', bridge],
  ['comparison-v1', comparison],
  ['compose-v1', compose],
  ['claims-v1', claims],
])('%s', (name, definition) => {
  let open: EnvHandle<QaRecord>;
  beforeAll(async () => {
    open = await openEnv(definition, {}, { seed: 3, tools });
  });
  afterAll(() => open.close());

  test('is won by an oracle with the real search tool', async () => {
    expect(definition.name).toBe(name);
    const tasks = await Promise.all(Array.from({ length: 60 }, (_, i) => open.tasks.test.get(i * 13)));
    const episodes = await Promise.all(tasks.map((task) => playOracle(open.episode(), task)));
    for (const transitions of episodes) {
      const last = transitions.at(-1)!;
      expect(last.outcome).toEqual({ kind: 'terminated', reason: 'answered' });
      expect(last.rewards).toEqual({
        ...{ em: 1, f1: 1, substring: 1, format: 1 },
        recall: 1,
        searches: transitions.length - 1,
      });
      const retrieved = transitions.reduce((sum, { rewards }) => sum + (rewards?.retrieved ?? 0), 0);
      expect(retrieved).toBeCloseTo(1, 9);
    }
  });

  test('declares its rewards, and takes its seed from the run or from its options', async () => {
    const same = await openEnv(definition, { worldSeed: 3 }, { seed: 99, tools });
    expect(same.tasks.train.get(17)).toEqual(open.tasks.train.get(17));
    expect(open.episode().spec.name).toBe(name);
    expect(Object.keys(definition.rewards)).toEqual([
      'em',
      'f1',
      'substring',
      'format',
      'retrieved',
      'recall',
      'searches',
    ]);
    await same.close();
  });
});

describe('an episode', () => {
  let open: EnvHandle<QaRecord>;
  let env: Env<QaRecord>;
  let task: QaRecord;
  beforeAll(async () => {
    open = await openEnv(bridge, {}, { seed: 3, tools });
    env = open.episode();
    task = await open.tasks.train.get(0);
  });
  afterAll(() => open.close());

  test('begins with a short instruction, the question and the search tool', async () => {
    const { messages, tools: offered } = await env.reset({ task, seed: 1 });
    expect(messages.map(({ role }) => role)).toEqual(['system', 'user']);
    expect(messages[0]!.content.split(' ').length).toBeLessThanOrEqual(20);
    expect(messages[1]!.content).toBe(task.question);
    expect(offered.map((tool) => tool.name)).toEqual(['search']);
  });

  test('shows three documents, one per line, the document with the query as its title first', async () => {
    await env.reset({ task, seed: 1 });
    const [title] = goldTitles(task);
    const { calls, rewards } = await env.step(search(title!));
    const lines = calls[0]!.text.split('\n');
    expect(lines).toHaveLength(3);
    expect(lines[0]).toMatch(new RegExp(`^${title}: `));
    expect(rewards).toEqual({ retrieved: 0.5 });
    expect((await env.step(search(title!))).rewards).toEqual({ retrieved: 0 });
  });

  test.each([
    ['<answer>nothing like it</answer>', { em: 0, f1: 0, substring: 0, format: 1, searches: 0, recall: 0 }],
    ['no tags', { em: 0, f1: 0, substring: 0, format: 0, searches: 0, recall: 0 }],
  ])('scores %j', async (text, expected) => {
    await env.reset({ task, seed: 1 });
    expect((await env.step(say(text))).rewards).toEqual(expected);
  });

  test('scores 0 for an answer without tags', async () => {
    await env.reset({ task, seed: 1 });
    expect((await env.step(say(task.answer))).rewards).toEqual({
      ...{ em: 0, f1: 0, substring: 0, format: 0 },
      searches: 0,
      recall: 0,
    });
  });

  test('scores 0 for the format, and nothing for retrieval, after a mistaken call', async () => {
    await env.reset({ task, seed: 1 });
    const broken = {
      text: '{',
      toolCalls: [{ parseFailure: 'no JSON', text: '{' }],
      stopReason: 'stop' as const,
    };
    const { calls, rewards } = await env.step(broken);
    expect(calls[0]!.mistake!.code).toBe('malformed_call');
    expect(rewards).toEqual({ retrieved: null });
    const { rewards: end } = await env.step(say(`<answer>${task.answer}</answer>`));
    expect(end).toEqual({ em: 1, f1: 1, substring: 1, format: 0, searches: 0, recall: 0 });
  });

  test('scores 0 for a truncated episode, except for retrieval', async () => {
    await env.reset({ task, seed: 1 });
    for (let i = 0; i < 4; i++) expect((await env.step(search('x'))).outcome.kind).toBe('running');
    const { outcome, rewards } = await env.step(search(goldTitles(task)[0]!));
    expect(outcome).toEqual({ kind: 'truncated', reason: 'max_turns' });
    expect(rewards).toEqual({
      em: 0,
      f1: 0,
      substring: 0,
      format: 0,
      searches: 5,
      recall: 0.5,
      retrieved: 0.5,
    });
  });

  test('takes its limits from the options', async () => {
    const short = await openEnv(bridge, { maxTurns: 1, topK: 1 }, { seed: 3, tools });
    const one = short.episode();
    await one.reset({ task, seed: 1 });
    const { outcome, calls } = await one.step(search('city'));
    expect(outcome.kind).toBe('truncated');
    expect(calls[0]!.text.split('\n')).toHaveLength(1);
    await short.close();
  });

  test('names a task that does not exist', () => {
    expect(() => open.tasks.train.get(4000)).toThrow('Task 4000 does not exist: there are 4000.');
  });
});

test('opens by its reference with the default search tool', async () => {
  const open = await openEnv('@toolenv/envs-qa/bridge-v1', { topK: 2 }, { seed: 3 });
  const env = open.episode();
  const task = (await open.tasks.test.get(0)) as QaRecord;
  await env.reset({ task, seed: 1 });
  const { calls } = await env.step(search(goldTitles(task)[0]!));
  expect(calls[0]!.text.split('\n')).toHaveLength(2);
  await open.close();
});
