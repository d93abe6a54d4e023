/** A program as the bytes of an ONNX model, with the gradients that are asked for. */
import type { Program } from '../ops.ts';
import { type GradientRequest, gradientOf, type Tensors } from '../runtime.ts';
import { gradients } from './gradients.ts';
import type { OnnxOps } from './onnx-ops.ts';

/** @param ops Empty; the program is written over it. */
export function buildModel(
  ops: OnnxOps,
  program: Program,
  request?: GradientRequest,
  constants?: Tensors,
): { model: Uint8Array; inputs: string[] } {
  const outputs = program(ops);
  if (request) {
    const { [request.of]: loss, ...rest } = outputs;
    if (!loss) throw new RangeError(`The program has no output "${request.of}" to differentiate.`);
    const sources = request.to.map((name) => {
      const source = ops.graph.inputs.get(name);
      if (!source) throw new RangeError(`The program has no input "${name}" to differentiate by.`);
      return source;
    });
    const found = gradients(ops, loss, sources);
    for (const [index, name] of request.to.entries()) rest[gradientOf(name)] = found[index]!;
    return ops.graph.build({ ...rest, [request.of]: loss }, constants);
  }
  return ops.graph.build(outputs, constants);
}
