/** Parameters that are optimized together: the gradients that wait for them, and what AdamW remembers of earlier ones. */
import type { AdamW } from '@toolenv/core/learner';
import type { Runtime, Tensors } from '../runtime/runtime.ts';
import type { Shapes } from '../runtime/shape.ts';
import { HostParameterGroup } from './host-parameter-group.ts';
import type { OptimizerState } from './optimizer-state.ts';
import { ResidentParameterGroup } from './resident-parameter-group.ts';

export interface ParameterGroup {
  readonly shapes: Shapes;
  /** Where a program is to write `gradient <name>`; those that are not here it gives as it likes. */
  readonly destination: Tensors;
  /** Whether this group's gradients among those that a program gave are finite. */
  areFinite(gradients: Tensors): Promise<boolean>;
  /** Adds `share` times this group's among those that a program gave to the gradients that wait, and uses them up. */
  accumulate(gradients: Tensors, share?: number): Promise<void>;
  clearGradients(): void;
  /** The norm of the gradients that wait; `undefined` if there are none. */
  gradNorm(): Promise<number | undefined>;
  /** The weights after one step on the gradients that wait, which uses up both. */
  step(weights: Tensors, options: AdamW, gradNorm: number): Promise<Tensors>;
  /** To be saved before the next step, which may write over it. */
  state(): Promise<OptimizerState>;
  restore(state: OptimizerState): Promise<void>;
  close(): Promise<void>;
}

/** A group in the memory that the runtime computes on. */
export function createParameterGroup(runtime: Runtime, shapes: Shapes): ParameterGroup {
  return runtime.memory ? new ResidentParameterGroup(runtime, shapes) : new HostParameterGroup(shapes);
}
