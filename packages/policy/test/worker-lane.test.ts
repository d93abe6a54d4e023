/** Lanes in worker threads sample what one in this thread does. */
import { createRng } from '@toolenv/core';
import { expect, onTestFinished, test } from 'vitest';
import type { Model } from '../src/model.ts';
import { onnxRuntime } from '../src/onnx/onnx-runtime.ts';
import { type SampleRequest, Sampler } from '../src/sampler.ts';
import { runtime, tinyConfig, tinyModel } from './tiny-model.ts';

function samplers(model: Model): { here: Sampler; threads: Sampler } {
  const here = new Sampler(runtime, model, { patience: 20 });
  const threads = new Sampler(onnxRuntime({ threads: 2 }), model, { patience: 20 });
  onTestFinished(async () => {
    await Promise.all([here.close(), threads.close()]);
  });
  return { here, threads };
}

function request(prompt: ArrayLike<number>, more: Partial<SampleRequest> = {}): SampleRequest {
  return { prompt: Int32Array.from(prompt), maxTokens: 6, temperature: 1, seed: 1, stopTokens: [], ...more };
}

/** Turns of conversations, some of which begin alike, with weights that change before the last; what was sampled. */
async function play(sampler: Sampler, model: Model): Promise<{ tokens: number[]; logprobs: number[] }[]> {
  const weights = model.weights;
  const beginning = Array.from({ length: 24 }, (_, index) => (index * 7) % tinyConfig.vocab_size);
  const histories = Array.from({ length: 7 }, (_, index) => (index < 4 ? [...beginning] : [index]));
  const played: { tokens: number[]; logprobs: number[] }[] = [];
  for (let turn = 0; turn < 3; turn++) {
    if (turn === 2) model.weights = tinyModel(22).weights;
    const samples = await Promise.all(
      histories.map((history, index) => {
        const rng = createRng(3, turn, index);
        history.push(...Array.from({ length: 1 + (index % 5) }, () => rng.int(tinyConfig.vocab_size)));
        const more = {
          conversation: `${index}`,
          seed: 10 * turn + index,
          temperature: index % 3,
          topK: 1 + 5 * index,
        };
        return sampler.sample(request(history, { ...more, maxTokens: 3 + index }));
      }),
    );
    for (const [index, { tokens, logprobs }] of samples.entries()) {
      histories[index]!.push(...tokens);
      played.push({ tokens: [...tokens], logprobs: [...logprobs] });
    }
  }
  model.weights = weights;
  return played;
}

test('tokens equal those of one lane in this thread, over turns, forks and new weights', async () => {
  const model = tinyModel(21);
  const { here, threads } = samplers(model);
  const expected = await play(here, model);
  const got = await play(threads, model);
  expect(got.map(({ tokens }) => tokens)).toEqual(expected.map(({ tokens }) => tokens));
  for (const [index, { logprobs }] of got.entries()) {
    for (const [i, value] of logprobs.entries()) expect(value).toBeCloseTo(expected[index]!.logprobs[i]!, 4);
  }
});

test('equal seeds give equal bits again, after the workers were closed too', async () => {
  const model = tinyModel(23);
  const { threads } = samplers(model);
  const first = await play(threads, model);
  await threads.close();
  expect(await play(threads, model)).toEqual(first);
});

test('a run that fails rejects whoever takes part with what went wrong, and the next is as if nothing had been', async () => {
  const model = tinyModel(24);
  const { here, threads } = samplers(model);
  const good = model.weights;
  const { 'model.norm.weight': _, ...rest } = good;
  model.weights = rest;
  const both = [threads.sample(request([1, 2])), threads.sample(request([3]))];
  for (const { reason } of (await Promise.allSettled(both)) as PromiseRejectedResult[]) {
    expect(reason).toMatchObject({ code: 'bug.sampler' });
    expect(reason.message).toContain('"model.norm.weight" is missing');
  }
  model.weights = good;
  const [one, other] = await Promise.all([threads.sample(request([1, 2])), here.sample(request([1, 2]))]);
  expect(one.tokens).toEqual(other.tokens);
});
