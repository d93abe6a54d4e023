/** What ONNX Runtime's errors say, for people. */
import { messageOf, ToolEnvError } from '@toolenv/core';

/** One line, without the source file and the condition that a failed check begins with. */
export function reasonOf(error: unknown): string {
  const line = messageOf(error).trim().replaceAll(/\s+/g, ' ');
  return line.replace(/^\S+\.cc:\d+ .* was false\. /, '');
}

/** @throws ToolEnvError `usage.device` for what a device could not compute; what the CPU cannot is a fault of ours. */
export function gaveUp(device: string, error: unknown): never {
  if (device === 'cpu') throw error;
  const message = `Device ${device} gave up (${reasonOf(error)}): take a smaller token budget or model, or another device, as cpu.`;
  throw new ToolEnvError('usage.device', message, { cause: error });
}
