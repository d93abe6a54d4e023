/** The tape: what each operation of a graph needs for its gradients, in the order of the operations. */
import type { Value } from './graph-builder.ts';

/** One recorded operation. */
export interface TapeEntry {
  inputs: readonly Value[];
  outputs: readonly Value[];
  /**
   * Emits the nodes of the gradients of the inputs that are `wanted`, in the order of the inputs. Integer inputs have none.
   * @param arriving The gradients of the outputs; `undefined` for an output that the loss does not depend on.
   */
  pull(
    arriving: readonly (Value | undefined)[],
    wanted: (input: Value) => boolean,
  ): readonly (Value | undefined)[];
}

/** The gradients of `sources`, and of all values between them and the values with a given gradient. */
export function pullBack(
  tape: readonly TapeEntry[],
  given: ReadonlyMap<Value, Value>,
  sources: readonly Value[],
  add: (a: Value, b: Value) => Value,
): Map<Value, Value> {
  const dependent = new Set(sources);
  for (const { inputs, outputs } of tape) {
    if (inputs.some((input) => dependent.has(input))) for (const output of outputs) dependent.add(output);
  }

  const gradient = new Map(given);
  for (const { inputs, outputs, pull } of tape.toReversed()) {
    if (!outputs.some((output) => gradient.has(output) && dependent.has(output))) continue;
    const arriving = outputs.map((output) => gradient.get(output));
    const contributions = pull(arriving, (input) => dependent.has(input));
    for (const [index, input] of inputs.entries()) {
      const contribution = contributions[index];
      if (!contribution) continue;
      const sum = gradient.get(input);
      gradient.set(input, sum ? add(sum, contribution) : contribution);
    }
  }
  return gradient;
}
