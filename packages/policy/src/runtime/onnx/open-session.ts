/** ONNX Runtime's sessions, and the end of those that are still open when the process exits. */
import { ToolEnvError } from '@toolenv/core';
import { InferenceSession } from 'onnxruntime-node';
import type { DeviceInfo } from '../device.ts';
import { reasonOf } from './reason.ts';

/** Those of WebGPU: the process would crash on its way out. */
const open: Set<InferenceSession> = new Set();
process.once('exit', () => {
  for (const session of open) void session.release();
});

/** @throws ToolEnvError `usage.device` for a device that cannot be used. */
export async function openSession(
  device: DeviceInfo['device'],
  model: Uint8Array,
  options: InferenceSession.SessionOptions,
): Promise<InferenceSession> {
  const session = await InferenceSession.create(model, options).catch((error: unknown) => {
    if (device === 'cpu') throw error;
    const message = `Device ${device} cannot be used (${reasonOf(error)}): choose another, as cpu.`;
    throw new ToolEnvError('usage.device', message, { cause: error });
  });
  if (device === 'webgpu') open.add(session);
  return session;
}

/** With the last session of WebGPU its memory would go, and what stays in it: that one is released as the process exits. */
export async function releaseSession(session: InferenceSession): Promise<void> {
  if (open.size === 1 && open.has(session)) return;
  open.delete(session);
  await session.release();
}
