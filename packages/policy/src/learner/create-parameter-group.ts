/** The parameter group that fits a runtime. */
import type { Runtime } from '../runtime/runtime.ts';
import type { Shapes } from '../runtime/shape.ts';
import { FusedParameterGroup } from './fused-parameter-group.ts';
import { HostParameterGroup } from './host-parameter-group.ts';
import type { ParameterGroup } from './parameter-group.ts';
import { ResidentParameterGroup } from './resident-parameter-group.ts';

export function createParameterGroup(runtime: Runtime, shapes: Shapes): ParameterGroup {
  if (runtime.optimizer && runtime.memory) return new FusedParameterGroup(runtime, shapes);
  return runtime.memory ? new ResidentParameterGroup(runtime, shapes) : new HostParameterGroup(shapes);
}
