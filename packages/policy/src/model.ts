/** The model as the learner and the sampler share it: configuration, current weights, constants. */
import type { Qwen2Config } from './qwen2.ts';
import { parameterShapes, rotaryTables } from './qwen2.ts';
import { type Tensors, tensor } from './runtime.ts';

export interface Model {
  readonly config: Qwen2Config;
  /** Replaced as a whole by each optimizer step, never written in place: whoever holds it holds a frozen copy. */
  weights: Tensors;
  /** Inputs that never change. */
  readonly constants: Tensors;
}

export function createModel(config: Qwen2Config, weights: Tensors): Model {
  const { cos, sin, dims } = rotaryTables(config);
  return { config, weights, constants: { 'rotary.cos': tensor(cos, dims), 'rotary.sin': tensor(sin, dims) } };
}

/** Number of parameters. */
export function parameterCount(config: Qwen2Config): number {
  let count = 0;
  for (const shape of parameterShapes(config).values())
    count += shape.reduce((product, dim) => product * dim, 1);
  return count;
}
