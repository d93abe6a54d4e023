/** Chooses where a parameter group keeps its tensors. */
import type { Runtime } from '../runtime/runtime.ts';
import type { Shapes } from '../runtime/shape.ts';
import { HostParameterGroup } from './host-parameter-group.ts';
import type { ParameterGroup } from './parameter-group.ts';
import { ResidentParameterGroup } from './resident-parameter-group.ts';

/** Keeps the group in the device's memory if the runtime has one, and in this process otherwise. */
export function createParameterGroup(runtime: Runtime, shapes: Shapes): ParameterGroup {
  return runtime.memory ? new ResidentParameterGroup(runtime, shapes) : new HostParameterGroup(shapes);
}
