/** A random model small enough for finite differences, and access to its gradients. */
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { createRng } from '@toolenv/core';
import type { Checkpoint } from '../src/checkpoint/checkpoint.ts';
import { readSafetensors } from '../src/checkpoint/safetensors.ts';
import type { LearnerOptions } from '../src/learner/learner-options.ts';
import { TransformerLearner } from '../src/learner/transformer-learner.ts';
import { createModel, type Model } from '../src/model/model.ts';
import type { ModelConfig } from '../src/model/model-config.ts';
import { parameterShapes } from '../src/model/parameter-shapes.ts';
import { onnxRuntime } from '../src/runtime/onnx/onnx-runtime.ts';
import { type Runtime, type Tensor, type Tensors, tensor, zeros } from '../src/runtime/runtime.ts';

export const runtime: Runtime = onnxRuntime({ threads: 1 });

export const tinyConfig: ModelConfig = {
  model_type: 'qwen2',
  vocab_size: 29,
  hidden_size: 16,
  intermediate_size: 24,
  num_hidden_layers: 2,
  num_attention_heads: 4,
  num_key_value_heads: 2,
  max_position_embeddings: 96,
  rms_norm_eps: 1e-6,
  rope_theta: 10_000,
  tie_word_embeddings: true,
};

/** What makes a tiny model of another architecture, by the layers that it has. */
export const otherLayers = {
  convolutions: {
    model_type: 'lfm2',
    layer_types: ['conv', 'full_attention'],
    conv_L_cache: 3,
  },
  'delta nets': {
    model_type: 'qwen3_5_text',
    head_dim: 8,
    partial_rotary_factor: 0.25,
    layer_types: ['linear_attention', 'full_attention'],
    linear_num_key_heads: 2,
    linear_num_value_heads: 4,
    linear_key_head_dim: 8,
    linear_value_head_dim: 6,
  },
  experts: {
    model_type: 'qwen3_moe',
    num_experts: 5,
    num_experts_per_tok: 2,
    moe_intermediate_size: 12,
    norm_topk_prob: true,
  },
} as const satisfies Record<string, Partial<ModelConfig>>;

/** Random weights, large enough that no distribution is flat. */
export function randomWeights(config: ModelConfig, seed: number): Tensors {
  const weights: Tensors = {};
  for (const [name, shape] of parameterShapes(config)) {
    const rng = createRng(seed, name);
    const centre = name.endsWith('norm.weight') ? 1 : 0;
    weights[name] = mapTensor(zeros(shape), () => centre + 0.8 * (rng.float() - 0.5));
  }
  return weights;
}

/** The tensor with each value replaced. */
export function mapTensor({ data, dims }: Tensor, change: (value: number, index: number) => number): Tensor {
  return tensor(Float32Array.from(data, change), dims);
}

export function tinyModel(seed = 1): Model {
  return createModel(tinyConfig, randomWeights(tinyConfig, seed));
}

export function learnerOf(model: Model, options?: LearnerOptions, on: Runtime = runtime): TransformerLearner {
  return new TransformerLearner(on, model, emptyCheckpoint(model), options);
}

/** The gradients that a learner has accumulated. The learner clears them and keeps its weights. */
export async function takeGradients(learner: TransformerLearner): Promise<Tensors> {
  // Without momentum, Adam's first moment is the gradient.
  await learner.step({ learningRate: 0, beta1: 0 });
  return inTemporaryFolder(async (folder) => {
    await learner.save(folder);
    const { tensors } = await readSafetensors(join(folder, 'optimizer.safetensors'));
    const means = Object.entries(tensors).filter(([name]) => name.startsWith('mean '));
    return Object.fromEntries(means.map(([name, value]) => [name.slice('mean '.length), value]));
  });
}

export async function inTemporaryFolder<T>(use: (folder: string) => Promise<T>): Promise<T> {
  const folder = await mkdtemp(join(tmpdir(), 'toolenv-policy-'));
  try {
    return await use(folder);
  } finally {
    await rm(folder, { recursive: true });
  }
}

function emptyCheckpoint({ config, weights }: Model): Checkpoint {
  return { folder: 'tiny', config, weights, tokenizer: {}, tokenizerConfig: {}, endTokens: [], files: {} };
}
