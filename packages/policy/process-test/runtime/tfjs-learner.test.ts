/** Learning and sampling on TensorFlow.js agree with ONNX Runtime. */
import { createRequire } from 'node:module';
import { expect, test } from 'vitest';
import { createModel } from '../../src/model/model.ts';
import { tfjsRuntime } from '../../src/runtime/tfjs/tfjs-runtime.ts';
import { createPolicy } from '../../src/transformer-policy.ts';
import { expectAllClose } from '../../test/expect-close.ts';
import { remoteRuntime } from '../../test/runtime/remote-runtime.ts';
import { furthest, learnerRun, samplingRun, trainingRun } from '../../test/runtime/runtime-agreement.ts';
import {
  inTemporaryFolder,
  learnerOf,
  otherLayers,
  randomWeights,
  runtime,
  takeGradients,
  tinyConfig,
  tinyModel,
} from '../../test/tiny-model.ts';
import { wordCheckpoint } from '../../test/word-checkpoint.ts';

const tfjs = await tfjsRuntime({ backend: 'wasm' });

test('log-probabilities, entropies, values and gradients agree', async () => {
  const { name, apart } = furthest(await learnerRun(tfjs), await learnerRun(runtime));
  expect(apart, name).toBeLessThan(1e-5);
});

test.each([
  ['of every weight', {}],
  ['of LoRA adapters', { lora: { rank: 4 } }],
])('three optimizer steps %s agree', async (_title, options) => {
  const { name, apart } = furthest(await trainingRun(tfjs, options), await trainingRun(runtime, options));
  expect(apart, name).toBeLessThan(1e-5);
});

test('greedy tokens are the same with an empty and with a cached past', async () => {
  const expected = await samplingRun(runtime);
  expect(await samplingRun(tfjs)).toEqual(expected);
  expect(await samplingRun(await remoteRuntime())).toEqual(expected);
});

test.each([
  {
    model_type: 'gemma3_text' as const,
    sliding_window_pattern: 2,
    rope_local_base_freq: 100,
    sliding_window: 4,
  },
  { model_type: 'phi3' as const, sliding_window: 4 },
  { model_type: 'cohere2' as const, sliding_window: 4, sliding_window_pattern: 2 },
  ...Object.values(otherLayers),
])('%j agrees too', async (fields) => {
  const config = { ...tinyConfig, ...fields };
  const model = () => createModel(config, randomWeights(config, 1));
  const { name, apart } = furthest(await learnerRun(tfjs, model()), await learnerRun(runtime, model()));
  // A memory adds up what all positions have written.
  expect(apart, name).toBeLessThan('linear_num_key_heads' in fields ? 1e-4 : 1e-5);
  const expected = await samplingRun(runtime, { model: model() });
  expect(await samplingRun(await remoteRuntime(), { model: model() })).toEqual(expected);
});

test('layers may be computed again for their gradients', async () => {
  const rows = [{ tokens: Int32Array.of(1, 2, 3, 4, 5, 6, 7), mask: Uint8Array.of(0, 0, 1, 1, 1, 1, 1) }];
  const gradients = async (gradientCheckpointing: boolean) => {
    const learner = learnerOf(tinyModel(), { gradientCheckpointing }, tfjs);
    await learner.backward({ rows }, { dLogprobs: [new Float32Array(7).fill(1)] });
    return takeGradients(learner);
  };
  const expected = await gradients(false);
  for (const [name, { data }] of Object.entries(await gradients(true)))
    expectAllClose(data, expected[name]!.data, 1e-6, name);
});

test.each([{}, { lora: { rank: 2 } }])(
  'a policy and a learner with %j leave no tensors behind',
  async (options) => {
    const { memory } = createRequire(import.meta.url)(
      '@tensorflow/tfjs',
    ) as typeof import('@tensorflow/tfjs');
    const remote = await remoteRuntime();
    const before = memory().numTensors;
    const policy = await createPolicy(wordCheckpoint(), { runtime: remote, learner: options });
    const { learner } = policy;
    const observation = { messages: [{ role: 'user' as const, content: 'where is the river ?' }], tools: [] };
    const reference = await learner.reference();
    await learner.addCritic({ critic: 'separate' });
    for (let step = 0; step < 2; step++) {
      const { tokens } = await policy.act(observation, { maxTokens: 5, temperature: 1, seed: step });
      const row = {
        tokens: Int32Array.of(...tokens!.prompt, ...tokens!.action),
        mask: new Uint8Array(tokens!.prompt.length + tokens!.action.length).fill(1, tokens!.prompt.length),
      };
      const { logprobs } = await learner.forward({ rows: [row, row] });
      expect(logprobs[0]!.at(-1)).toBeCloseTo(tokens!.logprobs!.at(-1)!, 4);
      await reference.forward({ rows: [row] });
      // Two backward passes, so that the second adds to the first.
      for (let batch = 0; batch < 2; batch++)
        await learner.backward({ rows: [row] }, { dLogprobs: logprobs, dValues: logprobs });
      await learner.step({ learningRate: 0.01 });
    }
    await inTemporaryFolder(async (folder) => {
      await learner.save(folder);
      await learner.load(folder);
    });
    await policy.close();
    expect(memory().numTensors).toBe(before);
  },
);
