/** The one error class of toolenv: a string code, a message that names the remedy, and the cause. */

const brand: symbol = Symbol.for('toolenv.error');

/**
 * What went wrong, for programs.
 * - `infrastructure.*`: the machine, a server or a tool's backend failed: the episode is aborted, never scored.
 * - `usage.*`: bad input by the person at the keyboard: one line, exit code 2.
 * - `context.*`: the observation does not fit the policy's context: the episode is truncated and scored.
 * - `bug.*`: a rule of the protocol was broken by the program (an environment, a policy or the caller).
 */
export type ErrorCode = `${'infrastructure' | 'usage' | 'context' | 'bug'}.${string}`;

/** Thrown by everything in toolenv. Recognise it with {@link ToolEnvError.isInstance}, across package copies. */
export class ToolEnvError extends Error {
  readonly code: ErrorCode;

  constructor(code: ErrorCode, message: string, options?: { cause?: unknown }) {
    super(message, options);
    this.name = 'ToolEnvError';
    this.code = code;
    Object.defineProperty(this, brand, { value: true });
  }

  static isInstance(error: unknown): error is ToolEnvError {
    return typeof error === 'object' && error !== null && (error as Record<symbol, unknown>)[brand] === true;
  }
}

/** Whether the machine failed, and neither the model nor the program. */
export function isInfrastructure(error: unknown): error is ToolEnvError {
  return ToolEnvError.isInstance(error) && error.code.startsWith('infrastructure.');
}

/** Whether the program broke a rule: nothing that may be survived. */
export function isBug(error: unknown): error is ToolEnvError {
  return ToolEnvError.isInstance(error) && error.code.startsWith('bug.');
}

/** The message of anything that was thrown. */
export function messageOf(error: unknown): string {
  return error instanceof Error ? error.message : String(error);
}
