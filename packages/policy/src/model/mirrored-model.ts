/** mirrorModel: a model for a sampler that computes in this process's memory, with copies of weights that a learner keeps in a device's. */
import { readTensorData } from '../runtime/resident-tensor.ts';
import type { Runtime, Tensors } from '../runtime/runtime.ts';
import type { Model } from './model.ts';
import { rotaryTables } from './rotary.ts';

/** @param runtime The runtime whose memory has the weights. They are copied before the first run after each step. */
export function mirrorModel(model: Model, runtime: Runtime): Model {
  const { config } = model;
  let from: Tensors | undefined;
  const mirror: Model = {
    config,
    users: new Set(),
    weights: {},
    constants: rotaryTables(config),
    exclusively: (run) =>
      model.exclusively(async () => {
        if (from !== model.weights) mirror.weights = await readTensorData(runtime, model.weights);
        from = model.weights;
        return run();
      }),
  };
  return mirror;
}
