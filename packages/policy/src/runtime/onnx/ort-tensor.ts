/** Tensors as ONNX Runtime has them. */
import { Tensor as OrtTensor } from 'onnxruntime-node';
import { ResidentTensor } from '../resident-tensor.ts';
import type { Tensor } from '../runtime.ts';

/** ONNX Runtime's view of each tensor, so that weights are wrapped once and not at every run. */
const wrapped = new WeakMap<Tensor, OrtTensor>();

export function toOrt(value: Tensor): OrtTensor {
  if (value instanceof ResidentTensor) return value.handle;
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

export function fromOrt(value: OrtTensor): Tensor {
  if (value.location !== 'cpu') return new ResidentTensor(value, value.dims);
  return { data: value.data as Float32Array | Int32Array, dims: value.dims };
}
