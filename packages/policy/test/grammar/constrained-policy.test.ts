/** A policy with constrained calls: its turns, its log-probabilities, and what stays as it was. */
import { type Action, createRng, type Observation } from '@toolenv/core';
import { callMistake } from '@toolenv/core/tools';
import { expect, onTestFinished, test } from 'vitest';
import { drawToken } from '../../src/sampler/draw-token.ts';
import { Sampler } from '../../src/sampler/sampler.ts';
import { createPolicy, type TransformerPolicy } from '../../src/transformer-policy.ts';
import { runtime, tinyModel } from '../tiny-model.ts';
import { wordCheckpoint } from '../word-checkpoint.ts';

const inputSchema = {
  type: 'object',
  properties: { query: { enum: ['river', 'is "the"'] } },
  required: ['query'],
};
const tools = [{ name: 'search', description: '', inputSchema }];
const observation: Observation = { messages: [{ role: 'user', content: 'where ?' }], tools };

/** A policy whose untrained model begins calls and ends turns `often` times as eagerly. */
async function open(often = 2): Promise<TransformerPolicy> {
  const checkpoint = wordCheckpoint({ tie_word_embeddings: false, max_position_embeddings: 400 });
  const { config, weights, endTokens } = checkpoint;
  const added = checkpoint.tokenizer.added_tokens as { id: number; content: string }[];
  const call = added.find(({ content }) => content === '<tool_call>')!.id;
  const head = weights['lm_head.weight']!.data as Float32Array;
  const width = config.hidden_size;
  for (const token of [call, ...endTokens])
    for (let i = token * width; i < (token + 1) * width; i++)
      head[i]! *= token === call ? often ** 3 : often ** 2;
  const policy = await createPolicy(checkpoint, { runtime, sampler: { batchDelay: 1 } });
  onTestFinished(() => policy.close());
  return policy;
}

/** What is wrong with the calls of a turn. The largest number of tokens may have cut the last one. */
function mistakesOf({ toolCalls, stopReason }: Action) {
  const found = toolCalls.map((call, i) => callMistake(call, i, tools, { maxCallsPerTurn: 99 }));
  return stopReason === 'length' ? found.slice(0, -1) : found;
}

test('a model that was never trained calls its tools without a mistake, and from equal seeds alike', async () => {
  const policy = await open();
  const all = (constrainCalls: boolean) =>
    Promise.all(
      Array.from({ length: 30 }, (_, seed) =>
        policy.act(observation, { maxTokens: 60, temperature: 1 + seed / 30, seed, constrainCalls }),
      ),
    );
  const [free, constrained, again] = [await all(false), await all(true), await all(true)];
  expect(again).toEqual(constrained);
  const mistakes = constrained.flatMap(mistakesOf);
  expect(mistakes.length).toBeGreaterThan(20);
  expect(mistakes.filter((mistake) => mistake !== undefined)).toEqual([]);
  expect(free.flatMap(mistakesOf).filter((mistake) => mistake === undefined)).toEqual([]);
});

test('log-probabilities are those of all tokens, as the learner computes them', async () => {
  const policy = await open();
  const { tokens, toolCalls } = await policy.act(observation, {
    maxTokens: 60,
    temperature: 1,
    seed: 1,
    constrainCalls: true,
  });
  expect(toolCalls.length).toBeGreaterThan(0);
  const { prompt, action, logprobs } = tokens!;
  const mask = new Uint8Array(prompt.length + action.length).fill(1, prompt.length);
  const rows = [{ tokens: Int32Array.from([...prompt, ...action]), mask }];
  const learned = (await policy.learner.forward({ rows })).logprobs[0]!;
  for (const [t, logprob] of logprobs.entries())
    expect(Math.abs(logprob - learned[prompt.length + t]!)).toBeLessThan(1e-4);
});

test('a turn without a call has the tokens that it has without the option', async () => {
  const policy = await open(1);
  let count = 0;
  for (const seed of [1, 2, 3, 4, 5, 6, 7, 8]) {
    const act = async (more: object) =>
      (await policy.act(observation, { maxTokens: 20, temperature: 1, seed, ...more })).tokens!.action;
    const before = await act({});
    expect(await act({ constrainCalls: false })).toEqual(before);
    if (policy.chat.written(before).includes('<tool_call>')) continue;
    expect(await act({ constrainCalls: true })).toEqual(before);
    count += 1;
  }
  expect(count).toBeGreaterThan(2);
});

test('only allowed tokens are drawn, in the proportions of their probabilities, before a truncation', () => {
  const probabilities = Float32Array.of(0.5, 0.1, 0.3, 0.1);
  const limit = { allowed: Uint32Array.of(0b1110), accept: () => {} };
  const rng = createRng(1);
  const counts = [0, 0, 0, 0];
  for (let i = 0; i < 5000; i++) counts[drawToken(probabilities, { temperature: 1, limit }, rng).token]! += 1;
  for (const [token, share] of [0, 0.2, 0.6, 0.2].entries())
    expect(counts[token]! / 5000).toBeCloseTo(share, 1);
  const likeliest = { token: 2, logprob: Math.log(probabilities[2]!) };
  expect(drawToken(probabilities, { temperature: 0, limit }, rng)).toEqual(likeliest);
  expect(drawToken(probabilities, { temperature: 1, topP: 0.6, limit }, rng)).toEqual(likeliest);
  const only = { allowed: Uint32Array.of(0b1000), accept: () => {} };
  // The logarithm of 0 is not a number that a record may have.
  const least = { token: 3, logprob: Math.log(2 ** -149) };
  expect(drawToken(Float32Array.of(1, 0, 0, 0), { temperature: 0, limit: only }, rng)).toEqual(least);
  expect(drawToken(Float32Array.of(1, 0, 0, 0), { temperature: 1, limit: only }, rng)).toEqual(least);
});

test('a limit that ends in nothing rejects its own request, and no other', async () => {
  const sampler = new Sampler(runtime, tinyModel(), { batchDelay: 0 });
  onTestFinished(() => sampler.close());
  const request = { prompt: Int32Array.of(1, 2), maxTokens: 5, temperature: 1, seed: 1, stopTokens: [] };
  const alone = await sampler.sample(request);
  const accept = () => {
    throw new Error('nothing may follow');
  };
  const results = await Promise.allSettled([
    sampler.sample(request),
    sampler.sample({ ...request, limit: { allowed: undefined, accept } }),
  ]);
  expect(results).toEqual([
    { status: 'fulfilled', value: alone },
    { status: 'rejected', reason: new Error('nothing may follow') },
  ]);
});
