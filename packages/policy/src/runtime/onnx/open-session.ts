/** ONNX Runtime's sessions, and the end of those that are still open when the process exits. */
import { InferenceSession } from 'onnxruntime-node';

/** Those of WebGPU: the process would crash on its way out. */
const open: Set<InferenceSession> = new Set();
process.once('exit', () => {
  for (const session of open) void session.release();
});

export async function openSession(
  model: Uint8Array,
  options: InferenceSession.SessionOptions,
): Promise<InferenceSession> {
  const session = await InferenceSession.create(model, options);
  if (options.executionProviders?.includes('webgpu')) open.add(session);
  return session;
}

export async function releaseSession(session: InferenceSession): Promise<void> {
  open.delete(session);
  await session.release();
}
