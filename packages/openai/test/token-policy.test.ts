/** Exact tokens: what the server sampled arrives as it was, and what is not exact is refused. */
import { join } from 'node:path';
import type { Observation } from '@toolenv/core';
import { openChat } from '@toolenv/policy/chat';
import { assertConforms, checkPolicy } from '@toolenv/testing';
import { expect, test } from 'vitest';
import { openAiPolicy } from '../src/open-policy.ts';
import { startWireServer, vocabularySize, type WireOptions } from './wire-server.ts';

const checkpoint = join(import.meta.dirname, '../../../packages/checkpoints/tiny');
const tokens = await openChat(checkpoint);
const question: Observation = { messages: [{ role: 'user', content: 'Where is the river?' }], tools: [] };
const sampling = { maxTokens: 16, temperature: 1, seed: 7 };

test.each([
  ['vllm', 'one'],
  ['llama.cpp', 'one'],
  ['vllm', 'sampling'],
] as const)(
  'a policy over the wire of %s, with log-probabilities at temperature %s, conforms',
  async (flavour, at) => {
    await using server = await startWireServer({ flavour, processedLogprobs: at === 'sampling' });
    const policy = await openAiPolicy({ url: server.url, tokens });
    // Log-probabilities after the temperature do not exist for greedy decoding.
    await assertConforms(checkPolicy(policy, { skip: at === 'sampling' ? ['POL-10'] : [] }));
  },
);

test.each(['vllm', 'llama.cpp'] as const)(
  'ids and log-probabilities of %s are those on the wire',
  async (flavour) => {
    await using server = await startWireServer({ flavour });
    const policy = await openAiPolicy({ url: server.url, tokens });
    const action = await policy.act(question, sampling);
    const prompt = tokens.chat.prompt(question);
    expect(server.requests.at(-1)!.body).toMatchObject({
      model: 'tiny',
      prompt: [...prompt],
      max_tokens: 16,
      temperature: 1,
      top_p: 1,
      top_k: -1,
      min_p: 0,
      seed: 7,
      return_token_ids: true,
      stop_token_ids: [845],
    });
    expect(action.tokens!.prompt).toEqual(prompt);
    const { logprobs, token_ids } = server.replies.at(-1)!.choices[0]!;
    const { content } = logprobs;
    const ids = flavour === 'vllm' ? token_ids : content.map(({ id }) => id);
    const expected = flavour === 'vllm' ? logprobs.token_logprobs : content.map(({ logprob }) => logprob);
    expect([...action.tokens!.action]).toEqual(ids);
    expect(action.tokens!.logprobs).toEqual(Float32Array.from(expected));
    expect(ids.length).toBeGreaterThan(0);
    expect(action.usage).toMatchObject({ requests: 1, inputTokens: prompt.length, outputTokens: ids.length });
  },
);

test('the next prompt begins with the sampled tokens, never with tokens of their text', async () => {
  await using server = await startWireServer();
  const policy = await openAiPolicy({ url: server.url, tokens });
  const first = await policy.act(question, { ...sampling, episodeId: 'a' });
  const messages = [
    ...question.messages,
    { role: 'assistant' as const, content: first.text },
    { role: 'user' as const, content: 'Go on.' },
  ];
  const second = await policy.act({ messages, tools: [] }, { ...sampling, episodeId: 'a' });
  const { prompt, action } = first.tokens!;
  const head = [...prompt, ...action];
  expect([...second.tokens!.prompt.slice(0, head.length)]).toEqual(head);
  expect(second.tokens!.prompt.length).toBeGreaterThan(head.length);
  policy.endEpisode!('a');
  const forgotten = await policy.act({ messages, tools: [] }, { ...sampling, episodeId: 'a' });
  expect(forgotten.tokens!.prompt).toEqual(tokens.chat.prompt({ messages, tools: [] }));
});

test('a stop text ends the action at the token that completes it, with all of its tokens', async () => {
  await using server = await startWireServer();
  const policy = await openAiPolicy({ url: server.url, tokens });
  const whole = await policy.act(question, { ...sampling, maxTokens: 12 });
  const ids = whole.tokens!.action;
  const text = tokens.chat.written(ids);
  const stop = text.slice(6, 8);
  const stopped = await policy.act(question, { ...sampling, maxTokens: 12, stop: [stop] });
  expect(stopped.stopReason).toBe('stop');
  expect(stopped.text).toBe(text.slice(0, text.indexOf(stop)).trim());
  const { action, logprobs } = stopped.tokens!;
  expect(action).toEqual(ids.slice(0, action.length));
  expect(logprobs).toEqual(whole.tokens!.logprobs.slice(0, action.length));
  expect(tokens.chat.written(action)).toContain(stop);
  expect(tokens.chat.written(action.slice(0, -1))).not.toContain(stop);
  expect(server.requests.at(-1)!.body).not.toHaveProperty('stop');
});

test('an action has no more tokens than the context has room for', async () => {
  const length = tokens.chat.prompt(question).length + 3;
  await using server = await startWireServer({ contextLength: length });
  const policy = await openAiPolicy({ url: server.url, tokens });
  expect(policy.spec).toMatchObject({ contextLength: length, usesSeparateSampler: true });
  const action = await policy.act(question, { ...sampling, seed: 3 });
  expect(action.tokens!.action.length).toBeLessThanOrEqual(3);
  const longer = {
    ...question,
    messages: [{ role: 'user' as const, content: 'Where is the river, and why there?' }],
  };
  await expect(policy.act(longer, sampling)).rejects.toMatchObject({ code: 'context.overflow' });
});

test.each([
  [
    '0.7 before the temperature',
    {},
    { temperature: 0.7 },
    /at temperature 1, not at 0.7: sample at temperature 1/,
  ],
  ['0 after the temperature', { processedLogprobs: true }, { temperature: 0 }, /raw_logprobs/],
  ['a truncation after the temperature', { processedLogprobs: true }, { topP: 0.9 }, /raw_logprobs/],
] as const)(
  'log-probabilities that no learner computes are refused: %s',
  async (_name, options, given, message) => {
    await using server = await startWireServer(options);
    const policy = await openAiPolicy({ url: server.url, tokens });
    const acting = policy.act(question, { ...sampling, ...given });
    await expect(acting).rejects.toMatchObject({
      code: 'usage.model_tokens',
      message: expect.stringMatching(message),
    });
  },
);

test('log-probabilities after the temperature train at any temperature', async () => {
  await using server = await startWireServer({ processedLogprobs: true });
  const policy = await openAiPolicy({ url: server.url, tokens });
  const action = await policy.act(question, { ...sampling, temperature: 0.7 });
  expect(action.tokens!.logprobs.length).toBe(action.tokens!.action.length);
});

interface Body {
  choices: {
    finish_reason: string;
    token_ids?: number[];
    prompt_token_ids: number[];
    logprobs?: { token_logprobs: (number | null)[]; top_logprobs: Record<string, number>[] };
  }[];
  usage: { prompt_tokens: number; completion_tokens: number };
}
type Change = (choice: Body['choices'][number], usage: Body['usage']) => void;

/** Replies with one thing changed, from one request on. */
function spoiled(change: Change, from: number): WireOptions {
  return {
    intercept({ path, body }, number) {
      if (path !== '/v1/completions' || number < from) return undefined;
      const prompt = [...(body.prompt as number[])];
      const logprobs = { token_logprobs: [-1, -2], top_logprobs: [{ a: -1, b: -2 }] };
      const choice = { finish_reason: 'length', token_ids: [1, 2], prompt_token_ids: prompt, logprobs };
      const usage = { prompt_tokens: prompt.length, completion_tokens: 2 };
      change(choice, usage);
      return { status: 200, body: { choices: [choice], usage } satisfies Body };
    },
  };
}

const spoilings: [string, Change, RegExp][] = [
  ['no ids', (choice) => delete choice.token_ids, /gives no token ids/],
  ['no log-probabilities', (choice) => delete choice.logprobs, /gives no log-probabilities/],
  ['too few', (choice) => choice.logprobs!.token_logprobs.pop(), /1 log-probabilities for 2 tokens/],
  ['a null', (choice) => choice.logprobs!.token_logprobs.fill(null), /log-probability null/],
  ['a foreign token', (choice) => choice.token_ids!.fill(vocabularySize), /gives the token 854/],
  [
    'tokens kept back',
    (_, usage) => Object.assign(usage, { completion_tokens: 3 }),
    /generated 3 tokens and/,
  ],
  ['another prompt', (choice) => choice.prompt_token_ids.fill(1), /read other prompt tokens/],
  [
    'a longer prompt',
    (_, usage) => Object.assign(usage, { prompt_tokens: 999 }),
    /read a prompt of 999 tokens/,
  ],
];

test.each(spoilings)(
  '%s: the probe refuses the server, and later the episode aborts',
  async (_name, change, message) => {
    await using never = await startWireServer(spoiled(change, 0));
    await expect(openAiPolicy({ url: never.url, tokens })).rejects.toMatchObject({
      code: 'usage.model_tokens',
      message: expect.stringMatching(message),
    });
    await using later = await startWireServer(spoiled(change, 3));
    const policy = await openAiPolicy({ url: later.url, tokens });
    await expect(policy.act(question, { ...sampling, maxTokens: 2 })).rejects.toMatchObject({
      code: 'infrastructure.model_tokens',
      message: expect.stringMatching(message),
    });
  },
);
