/** The errors of sandboxes. */
import { ToolEnvError } from '@toolenv/core';

/** A path that cannot be read or written, for whoever named it. */
export function fileProblem(path: string, why: string, cause?: unknown): ToolEnvError {
  return new ToolEnvError('usage.sandbox_file', `${path}: ${why}.`, { cause });
}

/** The sandbox itself failed. */
export function sandboxFault(why: string, cause?: unknown): ToolEnvError {
  return new ToolEnvError('infrastructure.sandbox', why, { cause });
}

/** What a machine or an option lacks. */
export function sandboxUsage(why: string, cause?: unknown): ToolEnvError {
  return new ToolEnvError('usage.sandbox', why, { cause });
}
