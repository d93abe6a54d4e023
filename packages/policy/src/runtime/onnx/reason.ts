/** ONNX Runtime's errors in words for users. */
import { messageOf, ToolEnvError } from '@toolenv/core';

/** The message in one line, without the source file and the failed condition that it begins with. */
export function reasonOf(error: unknown): string {
  const line = messageOf(error).trim().replaceAll(/\s+/g, ' ');
  return line.replace(/^\S+\.cc:\d+ .* was false\. /, '');
}

/** @throws ToolEnvError `usage.device` for a device other than the CPU. On the CPU it rethrows the error, which is a bug here. */
export function gaveUp(device: string, error: unknown): never {
  if (device === 'cpu') throw error;
  const message = `Device ${device} failed (${reasonOf(error)}): use a smaller token budget or model, or another device, such as cpu.`;
  throw new ToolEnvError('usage.device', message, { cause: error });
}
