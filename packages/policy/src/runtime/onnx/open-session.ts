/** ONNX Runtime's sessions: when each is released, and the end of those that are still open when the process exits. */
import { ToolEnvError } from '@toolenv/core';
import { InferenceSession } from '#onnxruntime';
import type { DeviceName } from '../device-name.ts';
import { reasonOf } from './reason.ts';

/** WebGPU's open sessions, each with its holders: its program until it is closed, and its outputs in the device's memory. */
const open: Map<InferenceSession, Set<object>> = new Map();
// A WebGPU session that is open at the exit would crash the process.
process.once('exit', () => {
  for (const session of open.keys()) void session.release();
});

/** @throws ToolEnvError `usage.device` for a device that cannot be used. */
export async function openSession(
  device: DeviceName,
  model: Uint8Array,
  options: InferenceSession.SessionOptions,
): Promise<InferenceSession> {
  const session = await InferenceSession.create(model, options).catch((error: unknown) => {
    if (device === 'cpu') throw error;
    const message = `Device ${device} cannot be used (${reasonOf(error)}): choose another device, such as cpu.`;
    throw new ToolEnvError('usage.device', message, { cause: error });
  });
  if (device === 'webgpu') open.set(session, new Set([session]));
  return session;
}

/** Keeps a session of WebGPU open until the holder lets it go. */
export function holdSession(session: InferenceSession, holder: object): void {
  open.get(session)?.add(holder);
}

/** The program is closed: releases the session, at once or when the last of its holders lets it go. */
export async function closeSession(session: InferenceSession): Promise<void> {
  if (open.has(session)) await releaseSession(session, session);
  else await session.release();
}

/** May be called again. The last session of WebGPU stays open until the process exits: the device's memory ends with it. */
export async function releaseSession(session: InferenceSession, holder: object): Promise<void> {
  const holders = open.get(session);
  if (!holders?.delete(holder) || holders.size > 0 || open.size === 1) return;
  open.delete(session);
  await session.release();
}
