/** One run of a session. ONNX Runtime for Node writes outputs where they are wanted. */
import type { InferenceSession, Tensor } from '#onnxruntime';

export type OrtTensors = Record<string, Tensor>;

/** @param into Outputs that are written there; ONNX Runtime allocates the rest. */
export function runSession(
  session: InferenceSession,
  feeds: OrtTensors,
  into: OrtTensors,
): Promise<InferenceSession.ReturnType> {
  const fetches = Object.fromEntries(session.outputNames.map((name) => [name, into[name] ?? null]));
  return session.run(feeds, fetches);
}
