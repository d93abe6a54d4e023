/** On TensorFlow.js, a vocabulary that is computed in parts learns as on ONNX Runtime. */
import { createRng } from '@toolenv/core';
import { expect, test } from 'vitest';
import { createModel } from '../src/model/model.ts';
import { tfjsRuntime } from '../src/runtime/tfjs/tfjs-runtime.ts';
import { expectAllClose } from '../test/expect-close.ts';
import { learnerOf, randomWeights, runtime, takeGradients, tinyConfig } from '../test/tiny-model.ts';

test('logits and gradients in several parts agree', async () => {
  const config = { ...tinyConfig, vocab_size: 40_000, num_hidden_layers: 1, max_position_embeddings: 520 };
  const rng = createRng(1, 'long');
  // 511 × 40,000 logits exceed the limit of a part.
  const tokens = Int32Array.from({ length: 512 }, () => rng.int(config.vocab_size));
  const rows = [{ tokens, mask: new Uint8Array(512).fill(1, 1) }];
  const slopes = [Float32Array.from(tokens, (_, t) => (t > 0 ? Math.sin(t) : 0))];
  const compute = async (on: typeof runtime) => {
    const learner = learnerOf(createModel(config, randomWeights(config, 1)), {}, on);
    const outputs = await learner.backward({ rows }, { dLogprobs: slopes, dEntropy: slopes });
    const gradients = await takeGradients(learner);
    await learner.close();
    return { gradients, logprobs: outputs.logprobs[0]! };
  };
  const [ours, theirs] = [await compute(runtime), await compute(await tfjsRuntime({ backend: 'wasm' }))];
  for (const [name, { data }] of Object.entries(ours.gradients)) {
    let largest = 0;
    for (const value of data) largest = Math.max(largest, Math.abs(value));
    expectAllClose(theirs.gradients[name]!.data, data, 3e-5 * largest, name);
  }
  for (const [t, value] of ours.logprobs.entries()) expect(theirs.logprobs[t]!).toBeCloseTo(value, 4);
});
