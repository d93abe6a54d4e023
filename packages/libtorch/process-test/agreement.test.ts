/** The numbers of ONNX Runtime: every operation and its gradients, a learner, training and sampling, in float32 and in bfloat16. */
import { join } from 'node:path';
import { loadPolicy, onnxRuntime, type Runtime, Sampler } from '@toolenv/policy';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { opsCases } from '../../policy/test/runtime/ops-cases.ts';
import {
  furthest,
  learnerRun,
  operationRun,
  samplingRun,
  trainingRun,
} from '../../policy/test/runtime/runtime-agreement.ts';
import { type LibtorchRuntime, libtorchRuntime } from '../src/libtorch-runtime.ts';
import { hasLibtorch } from './has-libtorch.ts';

const checkpoint = join(import.meta.dirname, '../../checkpoints/tiny');
const onnx = onnxRuntime();
const empty = { alive: 0, kept: 0 };

describe.runIf(hasLibtorch).each([
  { precision: 'float32' as const, tolerance: 1e-5, least: 0.1, ofModels: 1e-5 },
  // Two digits in each product, as a share of operands near 1. In a tiny model, errors add up over two layers and three steps.
  { precision: 'bfloat16' as const, tolerance: 2e-2, least: 1, ofModels: 0.1 },
])('$precision', ({ precision, tolerance, least, ofModels }) => {
  let libtorch: LibtorchRuntime;
  beforeAll(async () => {
    libtorch = await libtorchRuntime({ precision });
  });
  afterAll(() => libtorch.close());

  test.each(opsCases.map((one) => [`${one.operation} ${one.title}`, one] as const))('%s', async (_, one) => {
    const found = await operationRun(libtorch, one);
    // The loss is a sum of the value's numbers with either sign: its error has their size.
    const { loss, ...expected } = await operationRun(onnx, one);
    expect(furthest(found, expected, least).apart).toBeLessThan(tolerance);
    if (precision === 'float32') expect(found.loss!.data[0]).toBeCloseTo(loss!.data[0]!, 4);
    expect(await libtorch.count()).toEqual(empty);
  });

  test('a learner with a critic', async () => {
    expect(furthest(await learnerRun(libtorch), await learnerRun(onnx)).apart).toBeLessThan(ofModels);
    expect(await libtorch.count()).toEqual(empty);
  });

  test.each([{}, { gradientCheckpointing: true }, { lora: { rank: 4 } }])(
    'training with %j',
    async (options) => {
      const [found, expected] = [await trainingRun(libtorch, options), await trainingRun(onnx, options)];
      expect(furthest(found, expected).apart).toBeLessThan(ofModels);
      // What is not there to be freed cannot leak.
      expect(await libtorch.count()).toEqual(empty);
    },
  );

  test('greedy samples', async () => {
    expect(await samplingRun(libtorch)).toEqual(await samplingRun(onnx));
  });

  test('a policy samples from the weights of its last step', async () => {
    const run = async (runtime: Runtime) => {
      await using policy = await loadPolicy(checkpoint, { runtime });
      const messages = [{ role: 'user' as const, content: 'Where was Dronis Ashmoor filmed?' }];
      const act = async () =>
        (await policy.act({ messages, tools: [] }, { maxTokens: 12, temperature: 0, seed: 1 })).tokens!
          .action;
      const before = await act();
      const tokens = Int32Array.from({ length: 20 }, (_, t) => t);
      const mask = Uint8Array.from(tokens, () => 1).fill(0, 0, 2);
      await policy.learner.backward(
        { rows: [{ tokens, mask }] },
        { dLogprobs: [Float32Array.from(mask, (bit) => -bit)] },
      );
      await policy.learner.step({ learningRate: 0.02 });
      return { before, after: await act() };
    };
    const expected = await run(onnx);
    expect(expected.after).not.toEqual(expected.before);
    // On ONNX Runtime, as small models do, and in the engine.
    for (const runtime of [libtorch, { ...libtorch, minSampled: 0 }]) {
      expect(await run(runtime)).toEqual(expected);
      expect(await libtorch.count()).toEqual(empty);
    }
  });

  test('a conversation goes on where its cache ends, beside others, in the probabilities of the learner', async () => {
    await using policy = await loadPolicy(checkpoint, { runtime: { ...libtorch, minSampled: 0 } });
    const { learner, model } = policy;
    const sampler = new Sampler(libtorch, model);
    const sample = (episode: number, prompt: readonly number[]) =>
      sampler.sample({
        prompt: Int32Array.from(prompt),
        maxTokens: 7,
        temperature: 1,
        seed: episode,
        stopTokens: [],
        episodeId: `${episode}`,
      });
    const begun = Array.from({ length: 5 }, (_, n) =>
      Array.from({ length: 3 + 11 * n }, (_, t) => 40 + t + n),
    );
    for (const conversation of [begun, begun.slice(1, 4)]) {
      const drawn = await Promise.all(conversation.map((prompt, n) => sample(n, prompt)));
      const rows = drawn.map(({ tokens }, n) => {
        const whole = Int32Array.from([...conversation[n]!, ...tokens]);
        return {
          tokens: whole,
          mask: Uint8Array.from(whole, (_, t) => Number(t >= conversation[n]!.length)),
        };
      });
      const { logprobs } = await learner.forward({ rows });
      for (const [n, { logprobs: ofSampler }] of drawn.entries()) {
        const ofLearner = logprobs[n]!.slice(-7);
        for (const [t, value] of ofSampler.entries())
          expect(Math.abs(value - ofLearner[t]!)).toBeLessThan(precision === 'float32' ? 1e-4 : 0.1);
        conversation[n]!.push(...drawn[n]!.tokens, 50 + n);
      }
    }
    await sampler.close();
  });

  test('the same bits in two runs', async () => {
    expect(await trainingRun(libtorch)).toEqual(await trainingRun(libtorch));
  });
});
