/** Reverse-mode differentiation: appends the backward graph to the forward graph. */
import type { Value } from './graph-builder.ts';
import type { OnnxOps } from './onnx-ops.ts';

/**
 * The gradients of the scalar `loss` with respect to `sources`.
 * @throws RangeError if the loss does not depend on one of the sources.
 */
export function gradients(ops: OnnxOps, loss: Value, sources: readonly Value[]): Value[] {
  const tape = [...ops.tape];
  const dependent = new Set(sources);
  for (const { inputs, outputs } of tape) {
    if (inputs.some((input) => dependent.has(input))) for (const output of outputs) dependent.add(output);
  }

  const gradient = new Map<Value, Value>([[loss, ops.scalar(1)]]);
  for (const { inputs, outputs, pullbacks } of tape.toReversed()) {
    if (!outputs.some((output) => gradient.has(output))) continue;
    const arriving = outputs.map((output) => gradient.get(output) ?? ops.mul(output, ops.scalar(0)));
    for (const [index, input] of inputs.entries()) {
      const pullback = pullbacks[index];
      if (!pullback || !dependent.has(input)) continue;
      const contribution = pullback(...arriving);
      const sum = gradient.get(input);
      gradient.set(input, sum ? ops.add(sum, contribution) : contribution);
    }
  }
  return sources.map((source) => {
    const found = gradient.get(source);
    if (!found) throw new RangeError(`The loss does not depend on "${source.name}".`);
    return found;
  });
}
