/** One run of a session. ONNX Runtime for browsers leaves given tensors of the CPU as they were, so outputs are copied there. */
import type { InferenceSession, Tensor } from '#onnxruntime';
import type { OrtTensors } from './run-session.ts';

export async function runSession(
  session: InferenceSession,
  feeds: OrtTensors,
  into: OrtTensors,
): Promise<InferenceSession.ReturnType> {
  const outputs = await session.run(feeds);
  for (const [name, { data }] of Object.entries(into)) (data as Numbers).set(outputs[name]!.data as Numbers);
  return outputs;
}

type Numbers = Extract<Tensor['data'], Float32Array>;
