/** Lanes in worker threads sample what one in this thread does. */
import { Worker } from 'node:worker_threads';
import { createRng } from '@toolenv/core';
import { expect, onTestFinished, test, vi } from 'vitest';
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

test('tokens equal those of one lane in this thread, over turns, forks and new weights, and again after closing', async () => {
  const model = tinyModel(21);
  const { here, threads } = samplers(model);
  const expected = await play(here, model);
  const got = await play(threads, model);
  expect(got.map(({ tokens }) => tokens)).toEqual(expected.map(({ tokens }) => tokens));
  for (const [index, { logprobs }] of got.entries()) {
    for (const [i, value] of logprobs.entries()) expect(value).toBeCloseTo(expected[index]!.logprobs[i]!, 4);
  }
  await threads.close();
  expect(await play(threads, model)).toEqual(got);
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

test('a worker that is gone is reported by the next request, and another takes its place', async () => {
  const { here, threads } = samplers(tinyModel(25));
  const post = vi.spyOn(Worker.prototype, 'postMessage');
  onTestFinished(() => post.mockRestore());
  await threads.sample(request([1, 2], { conversation: 'one' }));
  await (post.mock.contexts[0] as unknown as Worker).terminate();
  const lost = threads.sample(request([1, 2, 3], { conversation: 'one' }));
  await expect(lost).rejects.toMatchObject({ code: 'infrastructure.sampler' });
  const [found, other] = [await threads.sample(request([1, 2, 3])), await here.sample(request([1, 2, 3]))];
  expect(found.tokens).toEqual(other.tokens);
});
