/** AdamW's state, as it is saved. */
import type { Tensors } from '../runtime/runtime.ts';
import type { Shapes } from '../runtime/shape.ts';

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
