/** What AdamW remembers of the gradients so far, as it is saved. */
import type { Tensors } from '../runtime/runtime.ts';
import type { Shapes } from '../runtime/shape.ts';

/** Steps done, and the moments `mean <name>` and `variance <name>` of each parameter's gradient. */
export interface OptimizerState {
  step: number;
  moments: Tensors;
}

export function meanOf(name: string): string {
  return `mean ${name}`;
}

export function varianceOf(name: string): string {
  return `variance ${name}`;
}

/** The shapes of the moments of parameters of those shapes. */
export function momentShapes(shapes: Shapes): Shapes {
  return new Map([meanOf, varianceOf].flatMap((of) => [...shapes].map(([name, shape]) => [of(name), shape])));
}
