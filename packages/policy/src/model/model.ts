/** The model as the learner and the sampler share it: configuration, current weights, constants. */
import pLimit, { type LimitFunction } from 'p-limit';
import { disposeTensors, placeTensors } from '../runtime/resident-tensor.ts';
import { type Runtime, type Tensors, tensor } from '../runtime/runtime.ts';
import { sizeOf } from '../runtime/shape.ts';
import { parameterShapes } from './decoder.ts';
import type { ModelConfig } from './model-config.ts';
import { rotaryTables } from './rotary.ts';

export interface Model {
  readonly config: ModelConfig;
  /** Replaced by each optimizer step, which writes the new numbers over the old ones. */
  weights: Tensors;
  /** An optimizer step and a run of the sampler wait for each other. */
  readonly exclusively: LimitFunction;
  /** Inputs that never change. */
  constants: Tensors;
  /** The sampler and the learner that are open. */
  readonly users: Set<object>;
}

export function createModel(config: ModelConfig, weights: Tensors): Model {
  const { cos, sin, dims } = rotaryTables(config);
  const constants = { 'rotary.cos': tensor(cos, dims), 'rotary.sin': tensor(sin, dims) };
  return { config, weights, exclusively: pLimit(1), constants, users: new Set() };
}

/** Moves weights and constants into the device's memory, if it has one. To be called before anything computes with them. */
export async function placeModel(runtime: Runtime, model: Model): Promise<void> {
  model.weights = await placeTensors(runtime, model.weights);
  model.constants = await placeTensors(runtime, model.constants);
}

/** With the last of its users, what a model holds of a device's memory goes. */
export function leaveModel(model: Model, user: object): void {
  if (!model.users.delete(user) || model.users.size > 0) return;
  disposeTensors(model.weights);
  disposeTensors(model.constants);
}

/** Number of parameters. */
export function parameterCount(config: ModelConfig): number {
  let count = 0;
  for (const shape of parameterShapes(config).values()) count += sizeOf(shape);
  return count;
}
