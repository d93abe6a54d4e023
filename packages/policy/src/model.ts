/** The model as the learner and the sampler share it: configuration, current weights, constants. */
import { Turns } from '@toolenv/core';
import { parameterShapes } from './decoder.ts';
import type { ModelConfig } from './model-config.ts';
import { rotaryTables } from './rotary.ts';
import { type Tensors, tensor } from './runtime.ts';
import { sizeOf } from './shape.ts';

export interface Model {
  readonly config: ModelConfig;
  /** Replaced by each optimizer step, which writes the new numbers over the old ones. */
  weights: Tensors;
  /** An optimizer step and a run of the sampler wait for each other. */
  readonly turns: Turns;
  /** Inputs that never change. */
  constants: Tensors;
}

export function createModel(config: ModelConfig, weights: Tensors): Model {
  const { cos, sin, dims } = rotaryTables(config);
  const constants = { 'rotary.cos': tensor(cos, dims), 'rotary.sin': tensor(sin, dims) };
  return { config, weights, turns: new Turns(), constants };
}

/** Number of parameters. */
export function parameterCount(config: ModelConfig): number {
  let count = 0;
  for (const shape of parameterShapes(config).values()) count += sizeOf(shape);
  return count;
}
