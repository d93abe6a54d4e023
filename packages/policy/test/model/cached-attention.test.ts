/** WebGPU's program of one token, whose attention is one node, computes what the CPU's does. The CPU has kernels for both. */
import { createRng } from '@toolenv/core';
import { InferenceSession } from 'onnxruntime-node';
import { expect, test } from 'vitest';
import { samplingProgram } from '../../src/model/cached-attention.ts';
import { createModel } from '../../src/model/model.ts';
import type { ModelConfig } from '../../src/model/model-config.ts';
import type { DeviceName } from '../../src/runtime/device-name.ts';
import { OnnxOps } from '../../src/runtime/onnx/onnx-ops.ts';
import { toOrt } from '../../src/runtime/onnx/ort-tensor.ts';
import { type Tensors, tensor } from '../../src/runtime/runtime.ts';
import { pastMask, pastWindowMask } from '../../src/sampler/cached-past.ts';
import { randomWeights, tinyConfig } from '../tiny-model.ts';

/** With heads that the kernel takes: their width is 16. */
const config: ModelConfig = { ...tinyConfig, hidden_size: 64 };
const lengths = [3, 32, 17];
const capacity = 32;
const window = 8;
const rng = createRng(1, 'past');

async function outputsOf(config: ModelConfig, device: DeviceName, given: Tensors): Promise<Tensors> {
  const ops = new OnnxOps(device);
  const { model, inputs } = ops.graph.build(samplingProgram(ops, config, 1));
  const session = await InferenceSession.create(model, { executionProviders: ['cpu'] });
  const outputs = await session.run(Object.fromEntries(inputs.map((name) => [name, toOrt(given[name]!)])));
  await session.release();
  return outputs as unknown as Tensors;
}

function inputsOf(config: ModelConfig): Tensors {
  const { weights, constants } = createModel(config, randomWeights(config, 1));
  const rows = lengths.length;
  const size = config.hidden_size / config.num_attention_heads;
  const dims = [rows, config.num_key_value_heads, capacity, size];
  const past = () =>
    Float32Array.from({ length: rows * dims[1]! * capacity * size }, () => rng.float() - 0.5);
  const parts = [...Array(config.num_hidden_layers).keys()].flatMap((layer) =>
    ['key', 'value'].map((part) => [`past.${layer}.${part}`, tensor(past(), dims)] as const),
  );
  return {
    ...weights,
    ...constants,
    ...Object.fromEntries(parts),
    embeddings: weights['model.embed_tokens.weight']!,
    tokens: tensor(Int32Array.of(4, 11, 28), [rows, 1]),
    positions: tensor(Int32Array.from(lengths), [rows, 1]),
    inverseTemperature: tensor(Float32Array.of(1, 0.5, 2), [rows, 1]),
    pastMask: pastMask(lengths, capacity),
    'window.pastMask': pastWindowMask(lengths, capacity, { time: 1, window }),
    lengths: tensor(Int32Array.from(lengths), [rows]),
    room: tensor(Int32Array.of(2 * capacity), [1]),
  };
}

const models: Record<string, ModelConfig> = {
  'rotary positions': config,
  'normalised heads': { ...config, model_type: 'qwen3' },
  'a layer without positions': { ...config, model_type: 'smollm3', no_rope_layers: [0, 1] },
  'a window': { ...config, model_type: 'mistral', sliding_window: window },
  'a layer with a window': {
    ...config,
    model_type: 'gemma3_text',
    head_dim: 16,
    sliding_window: window,
    layer_types: ['sliding_attention', 'full_attention'],
    rope_local_base_freq: 100,
  },
  'scores with a factor': { ...config, model_type: 'granite', attention_multiplier: 0.5 },
};

test.each(Object.entries(models))('%s', async (_title, config) => {
  const given = inputsOf(config);
  const [expected, found] = [await outputsOf(config, 'cpu', given), await outputsOf(config, 'webgpu', given)];
  const apart = expected.probabilities!.data.map((value, i) =>
    Math.abs(value - found.probabilities!.data[i]!),
  );
  expect(Math.max(...apart)).toBeLessThan(1e-6);
  const [rows, heads, , size] = given['past.0.key']!.dims as [number, number, number, number];
  for (const part of ['0.key', '0.value', '1.key', '1.value']) {
    const [past, fresh, grown] = [given[`past.${part}`]!, expected[`new.${part}`]!, found[`grown.${part}`]!];
    expect(grown.dims).toEqual([rows, heads, 2 * capacity, size]);
    for (let head = 0; head < rows * heads; head++) {
      const length = lengths[Math.floor(head / heads)]!;
      const kept = past.data.subarray(head * capacity * size, (head * capacity + length) * size);
      const start = 2 * head * capacity * size;
      expect(grown.data.subarray(start, start + kept.length)).toEqual(kept);
      const token = grown.data.subarray(start + kept.length, start + kept.length + size);
      for (const [i, value] of token.entries()) expect(value).toBeCloseTo(fresh.data[head * size + i]!, 5);
    }
  }
});

test('for heads of another width, the program returns the new keys and values', () => {
  const outputs = samplingProgram(new OnnxOps('webgpu'), tinyConfig, 1);
  expect(Object.keys(outputs).filter((name) => !name.startsWith('new.'))).toEqual(['probabilities']);
});
