/** Reverse-mode differentiation: appends the backward graph to the forward graph. */
import type { Value } from './graph-builder.ts';
import type { OnnxOps } from './onnx-ops.ts';
import { pullBack } from './tape.ts';

/**
 * The gradients of the scalar `loss` with respect to `sources`.
 * @throws RangeError if the loss does not depend on one of the sources.
 */
export function gradients(ops: OnnxOps, loss: Value, sources: readonly Value[]): Value[] {
  const found = pullBack([...ops.tape], new Map([[loss, ops.scalar(1)]]), sources, (a, b) => ops.add(a, b));
  return sources.map((source) => {
    const gradient = found.get(source);
    if (!gradient) throw new RangeError(`The loss does not depend on "${source.name}".`);
    return gradient;
  });
}
