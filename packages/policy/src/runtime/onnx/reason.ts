/** What ONNX Runtime's errors say, for people. */
import { messageOf } from '@toolenv/core';

/** One line, without the source file and the condition that a failed check begins with. */
export function reasonOf(error: unknown): string {
  const line = messageOf(error).trim().replaceAll(/\s+/g, ' ');
  return line.replace(/^\S+\.cc:\d+ .* was false\. /, '');
}
