/** The model that the learner and the sampler share: configuration, current weights and constants. */
import pLimit from 'p-limit';
import { disposeTensors, placeTensors } from '../runtime/resident-tensor.ts';
import type { Runtime, Tensors } from '../runtime/runtime.ts';
import { type Shapes, sizeOf } from '../runtime/shape.ts';
import type { ModelConfig } from './model-config.ts';
import { parameterShapes } from './parameter-shapes.ts';
import { rotaryTables } from './rotary.ts';

export interface Model {
  readonly config: ModelConfig;
  /** The current weights. Each optimizer step assigns new tensors, which may reuse the memory of the old ones. */
  weights: Tensors;
  /** Runs one function at a time, so that optimizer steps and sampler runs never overlap. */
  exclusively<Result>(run: () => Promise<Result>): Promise<Result>;
  /** Program inputs that never change. */
  constants: Tensors;
  /** The open samplers and learners. */
  readonly users: Set<object>;
}

export function createModel(config: ModelConfig, weights: Tensors): Model {
  return { config, weights, exclusively: pLimit(1), constants: rotaryTables(config), users: new Set() };
}

/** Moves weights and constants into the device's memory, if it has one. Call it before anything computes with them. */
export async function placeModel(runtime: Runtime, model: Model): Promise<void> {
  model.weights = await placeTensors(runtime, model.weights);
  model.constants = await placeTensors(runtime, model.constants);
}

/** Removes a user of the model. Removing the last one frees the model's device memory. */
export function releaseModel(model: Model, user: object): void {
  if (!model.users.delete(user) || model.users.size > 0) return;
  disposeTensors(model.weights);
  disposeTensors(model.constants);
}

/** The number of parameters. */
export function parameterCount(config: ModelConfig): number {
  return totalSize(parameterShapes(config));
}

/** The number of elements of all tensors of the given shapes. */
export function totalSize(shapes: Shapes): number {
  return [...shapes.values()].reduce((sum, shape) => sum + sizeOf(shape), 0);
}
