/** The policy: prompts that grow by exactly the sampled tokens, stop texts, and the limit of the context. */
import { mkdir, mkdtemp, readdir, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { Observation, Trajectory } from '@toolenv/core';
import { toTrainingRows } from '@toolenv/training';
import { expect, onTestFinished, test } from 'vitest';
import { readCheckpoint } from '../src/checkpoint/checkpoint.ts';
import { createPolicy, type TransformerPolicy } from '../src/transformer-policy.ts';
import { runtime } from './tiny-model.ts';
import { wordCheckpoint } from './word-checkpoint.ts';

async function open(contextLength = 160): Promise<TransformerPolicy> {
  const policy = await createPolicy(wordCheckpoint({ max_position_embeddings: contextLength }), {
    runtime,
    sampler: { batchDelay: 1 },
  });
  onTestFinished(() => policy.close());
  return policy;
}

const first: Observation = { messages: [{ role: 'user', content: 'where is the river ?' }], tools: [] };
const sampling = { maxTokens: 9, temperature: 1, seed: 3 };

test('a prompt starts with the tokens of the last prompt and action, so that steps share a training row', async () => {
  const policy = await open();
  let observation = first;
  const steps: Trajectory['steps'] = [];
  for (let turn = 0; turn < 3; turn++) {
    const action = await policy.act(observation, { ...sampling, episodeId: 'one' });
    steps.push({ observation, action, calls: [], rewards: {}, info: {} });
    const { text, toolCalls } = action;
    expect(toolCalls).toEqual([]);
    const messages = [
      ...observation.messages,
      { role: 'assistant', content: text } as const,
      { role: 'user', content: 'is ?' } as const,
    ];
    observation = { messages, tools: [] };
  }
  policy.endEpisode('one');
  const trajectory = {
    steps,
    outcome: { kind: 'terminated', reason: 'done' },
    rewardSpec: {},
  } as unknown as Trajectory;
  const rows = toTrainingRows(trajectory);
  expect(rows.length).toBe(1);
  const { logprobs } = await policy.learner.forward({ rows });
  for (const [position, bit] of rows[0]!.mask.entries()) {
    expect(Math.abs(logprobs[0]![position]! - rows[0]!.logprobs[position]!)).toBeLessThan(
      bit === 1 ? 1e-4 : 1e-30,
    );
  }
});

test('equal seeds give equal actions, and an ended episode leaves no state', async () => {
  const policy = await open();
  const act = () => policy.act(first, { ...sampling, episodeId: 'one' });
  const action = await act();
  policy.endEpisode('one');
  expect(await act()).toEqual(action);
  expect((await policy.act(first, { ...sampling, seed: 4, episodeId: 'two' })).tokens!.action).not.toEqual(
    action.tokens!.action,
  );
});

test('a stop text of any number of tokens ends the turn: the action keeps its tokens and drops its text', async () => {
  const policy = await open();
  const { chat } = policy;
  const free = await policy.act(first, { ...sampling, maxTokens: 30 });
  // The untrained model writes single bytes, so these two characters are two tokens.
  const [stop] = /[!-~]{2}/.exec(free.text.slice(2))!;
  const before = free.text.slice(0, free.text.indexOf(stop));
  const { text, stopReason, tokens } = await policy.act(first, {
    ...sampling,
    maxTokens: 30,
    stop: ['§', stop],
  });
  expect({ text, stopReason }).toEqual({ text: before, stopReason: 'stop' });
  const written = chat.decode(tokens!.action);
  expect(written.endsWith(stop)).toBe(true);
  expect([...tokens!.action]).toEqual([...free.tokens!.action.subarray(0, tokens!.action.length)]);
  expect(tokens!.action.length).toBeLessThan(free.tokens!.action.length);
});

test('after a stop text, the conversation continues with the sampled tokens', async () => {
  const policy = await open();
  const stop = [/[!-~]/.exec((await policy.act(first, sampling)).text.slice(1))![0]];
  const action = await policy.act(first, { ...sampling, stop, episodeId: 'one' });
  const messages = [
    ...first.messages,
    { role: 'assistant', content: action.text } as const,
    { role: 'user', content: 'is ?' } as const,
  ];
  const { tokens } = await policy.act({ messages, tools: [] }, { ...sampling, stop, episodeId: 'one' });
  const sofar = [...action.tokens!.prompt, ...action.tokens!.action];
  expect([...tokens!.prompt.subarray(0, sofar.length)]).toEqual(sofar);
});

test('an action ends at the end of the context', async () => {
  const policy = await open();
  const { chat } = policy;
  const { length } = chat.prompt(first);
  const short = await open(length + 4);
  expect(policy.spec.contextLength).toBe(160);
  const { tokens, stopReason } = await short.act(first, { ...sampling, maxTokens: 100, seed: 1 });
  expect(tokens!.action.length).toBeLessThanOrEqual(4);
  if (tokens!.action.length === 4 && tokens!.action.at(-1) !== chat.endTokens[0])
    expect(stopReason).toBe('length');
});

test('a prompt that fills the context overflows it', async () => {
  const { chat } = await open();
  const policy = await open(chat.prompt(first).length);
  await expect(policy.act(first, sampling)).rejects.toMatchObject({ code: 'context.overflow' });
});

test('a signal aborts the action', async () => {
  const policy = await open();
  const signal = AbortSignal.abort(new Error('deadline'));
  await expect(policy.act(first, { ...sampling, signal })).rejects.toThrow('deadline');
});

test('is saved as a folder without optimizer state, which appears whole and keeps the files of others', async () => {
  const policy = await open();
  const folder = join(await mkdtemp(join(tmpdir(), 'policy-')), 'deep', 'saved');
  onTestFinished(() => rm(join(folder, '..', '..'), { recursive: true }));
  await policy.save(folder);
  const files = ['config.json', 'model.safetensors', 'tokenizer.json', 'tokenizer_config.json'];
  expect((await readdir(folder)).sort()).toEqual(files);
  expect(await readdir(join(folder, '..'))).toEqual(['saved']);
  expect((await readCheckpoint(folder)).weights).toEqual(policy.model.weights);

  await writeFile(join(folder, 'README.md'), 'mine');
  const row = { tokens: Int32Array.of(1, 2), mask: Uint8Array.of(0, 1) };
  await policy.learner.backward({ rows: [row] }, { dLogprobs: [Float32Array.of(0, 1)] });
  await policy.learner.step({ learningRate: 0.1 });
  await policy.save(folder);
  expect((await readdir(folder)).sort()).toEqual(['README.md', ...files]);
  expect((await readCheckpoint(folder)).weights).toEqual(policy.model.weights);
});

test('a failed save leaves the saved policy as it was', async () => {
  const policy = await open();
  const folder = await mkdtemp(join(tmpdir(), 'policy-'));
  onTestFinished(() => rm(folder, { recursive: true }));
  await policy.save(folder);
  const before = await readCheckpoint(folder);
  policy.learner.saveModel = async (to) => {
    await mkdir(to, { recursive: true });
    await writeFile(join(to, 'model.safetensors'), 'half');
    throw new Error('the disk is full');
  };
  await expect(policy.save(folder)).rejects.toThrow('the disk is full');
  expect(await readCheckpoint(folder)).toEqual(before);
  expect((await readdir(folder)).some((name) => name.includes('partial'))).toBe(false);
});

test('closes its learner and its sampler at the end of a scope', async () => {
  let closed = 0;
  {
    await using policy = await createPolicy(wordCheckpoint(), { runtime });
    const close = policy.learner.close.bind(policy.learner);
    policy.learner.close = () => {
      closed += 1;
      return close();
    };
  }
  expect(closed).toBe(1);
});

test('a turn that is still inside its thought after maxThoughtTokens ends there, as at maxTokens', async () => {
  const checkpoint = wordCheckpoint();
  // The prompt has begun a thought, and an untrained model hardly ends it.
  const chat_template =
    '{% for m in messages %}{{ m.content }}<|im_end|>{% endfor %}{% if add_generation_prompt %}<think>{% endif %}{# </think> #}';
  const tokenizerConfig = { ...checkpoint.tokenizerConfig, chat_template };
  const opened = async (maxThoughtTokens?: number) => {
    const policy = await createPolicy({ ...checkpoint, tokenizerConfig }, { runtime, maxThoughtTokens });
    onTestFinished(() => policy.close());
    return policy.act(first, { ...sampling, maxTokens: 12 });
  };
  const [free, limited] = [await opened(), await opened(5)];
  expect(free.tokens!.action.length).toBe(12);
  expect(limited.tokens!.action).toEqual(free.tokens!.action.slice(0, 5));
  expect(limited).toMatchObject({ text: '', stopReason: 'length' });
  expect(limited.reasoning).toBeTypeOf('string');
});
