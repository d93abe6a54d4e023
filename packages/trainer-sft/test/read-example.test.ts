/** The formats of data files, and what is said of lines that are none of them. */
import type { Message, Observation } from '@toolenv/core';
import { describe, expect, test } from 'vitest';
import type { Example } from '../src/data/example.ts';
import { readPair } from '../src/data/load-pairs.ts';
import { readExamples } from '../src/data/read-example.ts';

const question = { role: 'user', content: 'Where is it?' };
const read = (line: unknown) => readExamples(JSON.stringify(line), 'data.jsonl:3');
const messagesOf = ({ content }: Example): Message[] => (content as Observation).messages;

test('OpenAI’s conversations: calls as JSON text, results by id, parts of text, and messages of weight 0', () => {
  const parameters = { type: 'object', properties: { query: { type: 'string' } } };
  const [example] = read({
    messages: [
      {
        role: 'developer',
        content: [
          { type: 'text', text: 'Be ' },
          { type: 'text', text: 'brief.' },
        ],
      },
      question,
      {
        role: 'assistant',
        content: null,
        weight: 0,
        tool_calls: [
          { id: 'a', type: 'function', function: { name: 'search', arguments: '{"query": "it"}' } },
        ],
      },
      { role: 'tool', tool_call_id: 'a', content: 'Here.' },
      { role: 'assistant', content: 'Here.' },
    ],
    tools: [{ type: 'function', function: { name: 'search', description: 'Find.', parameters } }],
    parallel_tool_calls: false,
  });
  expect(example!.content).toEqual({
    messages: [
      { role: 'system', content: 'Be brief.' },
      question,
      {
        role: 'assistant',
        content: '',
        toolCalls: [{ id: 'a', name: 'search', arguments: { query: 'it' } }],
      },
      { role: 'tool', content: 'Here.', toolCallId: 'a', name: 'search' },
      { role: 'assistant', content: 'Here.' },
    ],
    tools: [{ name: 'search', description: 'Find.', inputSchema: parameters }],
  });
  expect([0, 1].map((turn) => example!.learns!(turn))).toEqual([false, true]);
});

test('fields that Arrow filled with null count as absent', () => {
  const nothing = { name: null, tool_calls: null, tool_call_id: null, weight: null };
  const of = (name: string, args: object) => ({ id: null, type: null, function: { name, arguments: args } });
  const toolOf = (name: string, properties: object, required: string[]) => ({
    type: 'function',
    function: { name, description: null, strict: null, parameters: { type: 'object', properties, required } },
  });
  const [example] = read({
    text: null,
    prompt: null,
    segments: null,
    steps: null,
    messages: [
      { ...question, ...nothing },
      {
        ...{ role: 'assistant', content: null, weight: null, reasoning_content: null },
        tool_calls: [
          of('find', { query: 'it', a: null, b: null }),
          of('add', { query: null, a: 1, b: null }),
        ],
      },
      { ...nothing, role: 'tool', content: 'Here.', name: 'find' },
      { ...nothing, role: 'assistant', content: 'Here.' },
    ],
    tools: [
      toolOf('find', { query: { type: 'string' }, a: null, b: null }, ['query']),
      toolOf('add', { query: null, a: { type: 'integer' }, b: { type: ['integer', 'null'] } }, ['a']),
    ],
  });
  const { messages, tools } = example!.content as Observation;
  expect(messages[1]).toEqual({
    role: 'assistant',
    content: '',
    toolCalls: [
      { id: 'call-0', name: 'find', arguments: { query: 'it' } },
      { id: 'call-1', name: 'add', arguments: { a: 1, b: null } },
    ],
  });
  expect(tools[0]!.inputSchema.properties).toEqual({ query: { type: 'string' } });
  expect([0, 1].map((turn) => example!.learns!(turn))).toEqual([true, true]);
  // Without tools, nothing says that a null is meant, unless the model wrote it.
  const call = { role: 'assistant', tool_calls: [of('find', { a: null, c: { d: null } })] };
  const written = { role: 'assistant', tool_calls: [of('find', '{"a": null}' as never)] };
  const calls = [call, written].map((message) => messagesOf(read({ messages: [question, message] })[0]!)[1]);
  expect(calls).toMatchObject([
    { toolCalls: [{ arguments: { c: {} } }] },
    { toolCalls: [{ arguments: { a: null } }] },
  ]);
  expect(read({ messages: null, prompt: 'a', completion: 'b' })).toHaveLength(1);
});

test('a pair that Arrow filled with null is read', () => {
  const of = (content: string) => [{ role: 'assistant', content, tool_calls: null }];
  const pair = {
    prompt: null,
    chosen: [question, ...of('a')],
    rejected: [question, ...of('b')],
    tools: null,
  };
  expect(messagesOf(readPair(JSON.stringify(pair)).chosen)).toHaveLength(2);
});

test('an integer that a number would round is the text of its digits', () => {
  const line = `{"messages": [{"role": "user", "content": "Find."}, {"role": "assistant", "tool_calls": [
    {"function": {"name": "find", "arguments": {"id": 2512292042121000001}}},
    {"function": {"name": "find", "arguments": "{\\"id\\": 2512292042121000001}"}}]}]}`;
  const [example] = readExamples(line, 'data.jsonl:3');
  const { toolCalls } = messagesOf(example!)[1] as Extract<Message, { role: 'assistant' }>;
  expect(toolCalls!.map((call) => call.arguments)).toEqual([
    { id: '2512292042121000001' },
    { id: '2512292042121000001' },
  ]);
});

test('TRL’s conversations: calls as objects without ids, and tools as JSON text', () => {
  const tool = { name: 'search', parameters: { type: 'object', properties: {} } };
  const [example] = read({
    messages: [
      question,
      { role: 'assistant', tool_calls: [{ type: 'function', function: { name: 'search', arguments: {} } }] },
      { role: 'tool', name: 'search', content: 'Here.' },
      { role: 'assistant', content: 'Here.' },
    ],
    tools: JSON.stringify([{ type: 'function', function: tool }]),
  });
  const [, call, result] = messagesOf(example!);
  expect(call).toMatchObject({ toolCalls: [{ name: 'search', arguments: {} }] });
  expect(result).toMatchObject({
    name: 'search',
    toolCallId: (call as { toolCalls: { id: string }[] }).toolCalls[0]!.id,
  });
});

test('of prompt and completion, only the completion is learned', () => {
  const answer = { role: 'assistant', content: 'Here.' };
  const [example] = read({ prompt: [question, answer, question], completion: [answer] });
  expect(messagesOf(example!).length).toBe(4);
  expect([0, 1].map((turn) => example!.learns!(turn))).toEqual([false, true]);
  expect(read({ prompt: '2 + 2 = ', completion: '4' })[0]!.content).toEqual({
    segments: [
      { text: '2 + 2 = ', learn: false },
      { text: '4', learn: true },
    ],
    ends: true,
  });
});

test('texts are learned as a whole, segments by their labels', () => {
  expect(read({ text: 'one two' })[0]!.content).toEqual({
    segments: [{ text: 'one two', learn: true }],
    ends: true,
  });
  const segments = [
    { text: 'one', label: false },
    { text: ' two', label: true },
  ];
  expect(read({ segments })[0]!.content).toEqual({
    segments: [
      { text: 'one', learn: false },
      { text: ' two', learn: true },
    ],
    ends: false,
  });
});

describe('a line that is none of the formats names the wrong part', () => {
  const answer = { role: 'assistant', content: 'Here.' };
  const call = (given: object) => ({ messages: [question, { role: 'assistant', tool_calls: [given] }] });
  const cases: [unknown, string][] = [
    [
      { chat: [] },
      'expected one of the formats messages, prompt and completion, text, segments, or a trajectory; received ["chat"]',
    ],
    [[1], 'expected an object; received [1]'],
    [{ messages: [] }, '/messages: expected a list of messages; received []'],
    [
      { messages: [{ role: 'bot', content: '' }] },
      '/messages/0/role: expected system, developer, user, assistant or tool; received "bot"',
    ],
    [{ messages: [{ role: 'user', content: 7 }] }, '/messages/0/content: expected text; received 7'],
    [
      { messages: [{ role: 'user', content: [{ type: 'image_url' }] }] },
      '/messages/0/content/0: expected a part of the type text; received {"type":"image_url"}',
    ],
    [
      { messages: [question, { role: 'assistant', content: null }] },
      '/messages/1: expected content or tool_calls; received nothing',
    ],
    [{ messages: [{ ...answer, weight: 0.5 }] }, '/messages/0/weight: expected 0 or 1; received 0.5'],
    [
      { messages: [{ ...answer, reasoning_content: 7 }] },
      '/messages/0/reasoning_content: expected a text; received 7',
    ],
    [
      call({ function: { name: 'f', arguments: '{' } }),
      '/messages/1/tool_calls/0/function/arguments: expected JSON; received "{"',
    ],
    [
      call({ function: { arguments: {} } }),
      '/messages/1/tool_calls/0/function/name: expected the name of a tool; received nothing',
    ],
    [
      call({ function: { name: 'f', arguments: [1] } }),
      '/messages/1/tool_calls/0/function/arguments: expected an object; received [1]',
    ],
    [
      { messages: [{ role: 'tool', tool_call_id: 'x', content: '' }] },
      '/messages/0/tool_call_id: expected the id of a call before the message; received "x"',
    ],
    [
      { messages: [question, answer], tools: [{ description: 'x' }] },
      '/tools/0/name: expected a name; received nothing',
    ],
    [{ segments: [{ text: 'x' }] }, '/segments/0/label: expected true or false; received nothing'],
    [{ text: '' }, '/text: expected text; received ""'],
  ];
  test.each(cases)('%j', (line, message) => {
    expect(() => read(line)).toThrow(message);
  });
});

describe('pairs', () => {
  const answer = (content: string) => ({ role: 'assistant', content });
  const pair = (line: unknown) => readPair(JSON.stringify(line));

  test('an empty answer is an answer: the model ended its turn at once', () => {
    const { rejected } = pair({ prompt: [question], chosen: [answer('A')], rejected: [answer('')] });
    expect(messagesOf(rejected).at(-1)).toEqual({ role: 'assistant', content: '' });
    expect(rejected.learns!(0)).toBe(true);
  });

  test('with a prompt, both answers follow it', () => {
    const { chosen, rejected } = pair({ prompt: [question], chosen: [answer('A')], rejected: [answer('B')] });
    expect([chosen, rejected].map((side) => messagesOf(side).map(({ content }) => content))).toEqual([
      ['Where is it?', 'A'],
      ['Where is it?', 'B'],
    ]);
  });

  test('without a prompt, what both begin with is the prompt', () => {
    const { chosen } = pair({
      chosen: [question, answer('First'), question, answer('A')],
      rejected: [question, answer('First'), question, answer('B')],
    });
    expect([0, 1].map((turn) => chosen.learns!(turn))).toEqual([false, true]);
  });

  test('of plain text', () => {
    const { rejected } = pair({ prompt: '2 + 2 = ', chosen: '4', rejected: '5' });
    expect(rejected.content).toMatchObject({
      segments: [{ learn: false }, { text: '5', learn: true }],
      ends: true,
    });
  });

  test.each([
    [
      { prompt: [question], chosen: [answer('A')] },
      '/rejected: expected a list of messages; received nothing',
    ],
    [
      { prompt: 'x', chosen: [answer('A')], rejected: [answer('B')] },
      '/prompt: expected a list of messages; received "x"',
    ],
    [
      { chosen: [question, answer('A')], rejected: [question, answer('A')] },
      '/chosen: expected an assistant message after the prompt; received []',
    ],
  ])('%j is refused', (line, message) => {
    expect(() => pair(line)).toThrow(message);
  });
});

test.each(['reasoning_content', 'reasoning', 'thinking'])(
  'a thought in %s is the thought of the turn',
  (field) => {
    const line = JSON.stringify({
      messages: [
        { role: 'user', content: 'q' },
        { role: 'assistant', content: 'a', [field]: 'hm' },
      ],
    });
    expect(readExamples(line, 'data.jsonl:1')[0]!.content).toMatchObject({
      messages: [{ role: 'user' }, { role: 'assistant', content: 'a', reasoning: 'hm' }],
    });
  },
);
