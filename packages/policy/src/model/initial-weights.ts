/**
 * Random weights to train from: normal with standard deviation 0.02, norms that multiply by 1, biases at 0, as Qwen2 begins. Decays of
 * delta nets begin as Qwen3.5's.
 */
import { createRng } from '@toolenv/core';
import { type Tensors, tensor } from '../runtime/runtime.ts';
import { sizeOf } from '../runtime/shape.ts';
import { architectureOf } from './known-architectures.ts';
import type { ModelConfig } from './model-config.ts';
import { parameterShapes } from './parameter-shapes.ts';

/** @param seed Equal seeds give equal weights. */
export function initialWeights(config: ModelConfig, seed: number): Tensors {
  const { normOffset } = architectureOf(config);
  const weights: Tensors = {};
  for (const [name, shape] of parameterShapes(config)) {
    const rng = createRng(seed, name);
    const values = new Float32Array(sizeOf(shape));
    if (name.endsWith('linear_attn.norm.weight')) values.fill(1);
    else if (name.endsWith('norm.weight')) values.fill(1 - normOffset);
    else if (name.endsWith('dt_bias')) values.fill(1);
    else if (name.endsWith('A_log'))
      for (const i of values.keys()) values[i] = Math.log(0.01 + 16 * rng.float());
    else if (!name.endsWith('.bias'))
      for (let i = 0; i < values.length; i++) values[i] = 0.02 * normal(rng.float(), rng.float());
    weights[name] = tensor(values, shape);
  }
  return weights;
}

/** A standard normal number from two uniform numbers (Box–Muller). */
function normal(u: number, v: number): number {
  return Math.sqrt(-2 * Math.log(1 - u)) * Math.cos(2 * Math.PI * v);
}
