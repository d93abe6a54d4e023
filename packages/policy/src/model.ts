/** The model as the learner and the sampler share it: configuration, current weights, constants. */
import { parameterShapes } from './decoder.ts';
import type { ModelConfig } from './model-config.ts';
import { rotaryTables } from './rotary.ts';
import { type Tensors, tensor } from './runtime.ts';

export interface Model {
  readonly config: ModelConfig;
  /** Replaced as a whole by each optimizer step, never written in place: whoever holds it holds a frozen copy. */
  weights: Tensors;
  /** Inputs that never change. */
  readonly constants: Tensors;
}

export function createModel(config: ModelConfig, weights: Tensors): Model {
  const { cos, sin, dims } = rotaryTables(config);
  return { config, weights, constants: { 'rotary.cos': tensor(cos, dims), 'rotary.sin': tensor(sin, dims) } };
}

/** Number of parameters. */
export function parameterCount(config: ModelConfig): number {
  let count = 0;
  for (const shape of parameterShapes(config).values())
    count += shape.reduce((product, dim) => product * dim, 1);
  return count;
}
