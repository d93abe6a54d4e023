/** Parameters that are optimized together, with their accumulated gradients and AdamW's moments. */
import type { AdamW } from '@toolenv/core/learner';
import { disposeTensors } from '../runtime/resident-tensor.ts';
import type { Tensors } from '../runtime/runtime.ts';
import type { Shapes } from '../runtime/shape.ts';

export interface ParameterGroup {
  readonly shapes: Shapes;
  /** Tensors for a program to write `gradient <name>` into; the program allocates the rest. */
  readonly destination: Tensors;
  /** Whether a program's gradients of this group are finite. */
  areFinite(gradients: Tensors): Promise<boolean>;
  /** Adds `share` times a program's gradients of this group to the accumulated ones. The group takes the given tensors over. */
  accumulate(gradients: Tensors, share?: number): Promise<void>;
  clearGradients(): void;
  /** The norm of the accumulated gradients; `undefined` if there are none. */
  gradNorm(): Promise<number | undefined>;
  /** The weights after one step on the accumulated gradients. The step clears the gradients and takes the old weights over. */
  step(weights: Tensors, options: AdamW, gradNorm: number): Promise<Tensors>;
  /** The optimizer's state. Save it before the next step, which may overwrite it. */
  state(): Promise<OptimizerState>;
  restore(state: OptimizerState): Promise<void>;
  close(): Promise<void>;
}

/** AdamW's state, as it is saved. */
export interface OptimizerState {
  /** The number of completed steps. */
  step: number;
  /** `mean <name>` and `variance <name>` of each parameter's gradient. */
  moments: Tensors;
}

export function meanOf(name: string): string {
  return `mean ${name}`;
}

export function varianceOf(name: string): string {
  return `variance ${name}`;
}

/** The names and shapes of the moments, for parameters with the given shapes. */
export function momentShapes(shapes: Shapes): Shapes {
  return new Map([meanOf, varianceOf].flatMap((of) => [...shapes].map(([name, shape]) => [of(name), shape])));
}

/** If memory is too small for the sums, the gradients of the program are freed. */
export async function accumulateAll(
  groups: readonly ParameterGroup[],
  gradients: Tensors,
  share: number,
): Promise<void> {
  try {
    for (const group of groups) await group.accumulate(gradients, share);
  } catch (error) {
    disposeTensors(gradients);
    throw error;
  }
}

/** Whether a program's gradients of all groups are finite. */
export async function allFinite(groups: readonly ParameterGroup[], gradients: Tensors): Promise<boolean> {
  for (const group of groups) if (!(await group.areFinite(gradients))) return false;
  return true;
}
