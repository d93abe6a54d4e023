/** WebGPU's graphs are few nodes, each of which is one or more launches. */
import { expect, test } from 'vitest';
import { hiddenStates, linearFunctional } from '../../src/learner/token-outputs.ts';
import { samplingProgram } from '../../src/model/cached-attention.ts';
import type { ModelConfig } from '../../src/model/model-config.ts';
import { parameterShapes } from '../../src/model/parameter-shapes.ts';
import type { Value } from '../../src/runtime/onnx/graph-builder.ts';
import { OnnxOps } from '../../src/runtime/onnx/onnx-ops.ts';
import { decodeGraph } from '../../src/runtime/onnx/onnx-proto.ts';
import { gradients } from '../../src/runtime/onnx/onnx-runtime.ts';
import { LaidOutWeights } from '../../src/sampler/laid-out-weights.ts';
import { runtime } from '../tiny-model.ts';

/** Qwen2.5-0.5B's. */
const config: ModelConfig = {
  model_type: 'qwen2',
  vocab_size: 151_936,
  hidden_size: 896,
  intermediate_size: 4864,
  num_hidden_layers: 24,
  num_attention_heads: 14,
  num_key_value_heads: 2,
  max_position_embeddings: 32_768,
  rms_norm_eps: 1e-6,
  rope_theta: 1_000_000,
  tie_word_embeddings: true,
};

function nodeCount(ops: OnnxOps, outputs: Record<string, Value>): number {
  return decodeGraph(ops.graph.build(outputs).model).node.length;
}

test('a token of 24 layers takes at most 394 nodes', () => {
  // The sampler gives the matrices laid out for products, so that no node transposes them.
  const laidOut = new LaidOutWeights(runtime, config);
  const ops = new OnnxOps('webgpu', 'float32', { laidOut: (name) => laidOut.has(name) });
  expect(nodeCount(ops, samplingProgram(ops, config, 1, 128))).toBeLessThanOrEqual(394);
});

test('a backward pass of 24 layers takes at most 3,101 nodes', () => {
  const ops = new OnnxOps('webgpu');
  const kind = { parts: 1, blocks: 1, branches: false, chunks: 1 };
  const shapes = parameterShapes(config);
  const hidden = hiddenStates(ops, config, kind);
  const outputs = linearFunctional(ops, config, hidden, ['dLogprobs'], kind, shapes);
  const sources = [...shapes.keys()].map((name) => ops.graph.inputs.get(name)!);
  for (const [index, gradient] of gradients(ops, outputs.loss!, sources).entries())
    outputs[`gradient ${sources[index]!.name}`] = gradient;
  expect(nodeCount(ops, outputs)).toBeLessThanOrEqual(3101);
});
