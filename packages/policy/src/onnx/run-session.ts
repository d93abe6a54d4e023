/** One run of an ONNX Runtime session on our tensors. */
import { type InferenceSession, Tensor as OrtTensor } from 'onnxruntime-node';
import type { Tensor, Tensors } from '../runtime.ts';

/** @param inputs The names that the session asks for, of those given. */
export async function runSession(
  session: InferenceSession,
  inputs: readonly string[],
  given: Tensors,
): Promise<Tensors> {
  const feeds: Record<string, OrtTensor> = {};
  for (const name of inputs) {
    const value = given[name];
    if (!value) throw new RangeError(`Input "${name}" is missing.`);
    feeds[name] = toOrt(value);
  }
  const results = await session.run(feeds);
  const outputs: Tensors = {};
  for (const [name, { data, dims }] of Object.entries(results)) {
    outputs[name] = { data: data as Float32Array | Int32Array, dims };
  }
  return outputs;
}

/** ONNX Runtime's view of each tensor, so that weights are wrapped once and not at every run. */
const wrapped = new WeakMap<Tensor, OrtTensor>();

function toOrt(value: Tensor): OrtTensor {
  let known = wrapped.get(value);
  if (!known) {
    const { data, dims } = value;
    known =
      data instanceof Float32Array
        ? new OrtTensor('float32', data, dims)
        : new OrtTensor('int32', data, dims);
    wrapped.set(value, known);
  }
  return known;
}
