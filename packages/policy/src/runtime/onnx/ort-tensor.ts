/** Conversion between this package's tensors and ONNX Runtime's. No public type may need this file: its types are those of onnxruntime-node. */
import { type InferenceSession, Tensor as OrtTensor } from '#onnxruntime';
import { getOrInsert } from '../get-or-insert.ts';
import { ResidentTensor } from '../resident-tensor.ts';
import type { Tensor } from '../runtime.ts';
import { holdSession, releaseSession } from './open-session.ts';

/** ONNX Runtime's view of each tensor, so that weights are wrapped once and not at every run. */
const wrapped = new WeakMap<Tensor, OrtTensor>();

/** A tensor in a device's memory. ONNX Runtime frees it through the session that made it, which stays open until then. */
class SessionTensor extends ResidentTensor<OrtTensor> {
  readonly #session: InferenceSession;

  constructor(handle: OrtTensor, session: InferenceSession) {
    super(handle, handle.dims);
    this.#session = session;
    holdSession(session, this);
  }

  override dispose(): void {
    super.dispose();
    void releaseSession(this.#session, this);
  }
}

export function toOrt(value: Tensor): OrtTensor {
  if (value instanceof ResidentTensor) return value.handle;
  return getOrInsert(wrapped, value, () => {
    const { data, dims } = value;
    return data instanceof Float32Array
      ? new OrtTensor('float32', data, dims)
      : new OrtTensor('int32', data, dims);
  });
}

/** @param session The session whose output the tensor is. */
export function fromOrt(value: OrtTensor, session: InferenceSession): Tensor {
  if (value.location !== 'cpu') return new SessionTensor(value, session);
  return { data: value.data as Float32Array | Int32Array, dims: value.dims };
}
