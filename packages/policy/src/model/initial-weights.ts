/** Random weights to train from: normal with standard deviation 0.02, norms at 1, biases at 0, as Qwen2 begins. */
import { createRng } from '@toolenv/core';
import { type Tensors, tensor } from '../runtime/runtime.ts';
import { sizeOf } from '../runtime/shape.ts';
import type { ModelConfig } from './model-config.ts';
import { parameterShapes } from './parameter-shapes.ts';

/** @param seed Equal seeds give equal weights. */
export function initialWeights(config: ModelConfig, seed: number): Tensors {
  const weights: Tensors = {};
  for (const [name, shape] of parameterShapes(config)) {
    const rng = createRng(seed, name);
    const values = new Float32Array(sizeOf(shape));
    if (name.endsWith('norm.weight')) values.fill(1);
    else if (!name.endsWith('bias'))
      for (let i = 0; i < values.length; i++) values[i] = 0.02 * normal(rng.float(), rng.float());
    weights[name] = tensor(values, shape);
  }
  return weights;
}

/** A standard normal number from two uniform numbers (Box–Muller). */
function normal(u: number, v: number): number {
  return Math.sqrt(-2 * Math.log(1 - u)) * Math.cos(2 * Math.PI * v);
}
