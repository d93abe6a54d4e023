/** ToolEnvError: the only error class of toolenv, with a string code, a message that names the remedy, and a cause. */

export { atPlace, placeOf } from './place-of.ts';

const brand: symbol = Symbol.for('toolenv.error');

/**
 * The kind of error, for programs.
 * - `infrastructure.*`: the machine, a server or a tool's backend failed. The episode is aborted and never scored.
 * - `usage.*`: the user's input is wrong. The command line prints one line and exits with code 2.
 * - `context.*`: the observation does not fit the policy's context. The episode is truncated and scored.
 * - `bug.*`: the program (an environment, a policy or the caller) broke a rule of the protocol.
 */
export type ErrorCode = `${'infrastructure' | 'usage' | 'context' | 'bug'}.${string}`;

/** Recognise it with {@link ToolEnvError.isInstance}, which also works if several copies of the package are installed. */
export class ToolEnvError extends Error {
  readonly code: ErrorCode;

  constructor(code: ErrorCode, message: string, options?: { cause?: unknown }) {
    super(message, options);
    this.name = 'ToolEnvError';
    this.code = code;
    Object.defineProperty(this, brand, { value: true });
  }

  static isInstance(error: unknown): error is ToolEnvError {
    // A thrown proxy or getter of a third party may throw again.
    try {
      return (
        typeof error === 'object' && error !== null && (error as Record<symbol, unknown>)[brand] === true
      );
    } catch {
      return false;
    }
  }
}

/** Whether the infrastructure failed, as opposed to the model or the program. */
export function isInfrastructure(error: unknown): error is ToolEnvError {
  return ToolEnvError.isInstance(error) && error.code.startsWith('infrastructure.');
}

/** Whether the program broke a rule of the protocol. Such errors must end the run. */
export function isBug(error: unknown): error is ToolEnvError {
  return ToolEnvError.isInstance(error) && error.code.startsWith('bug.');
}

/** Characters that are kept of the message of a third party. */
const maxMessageLength = 2000;

/** The message of any thrown value, even of a value whose getters or `toString` throw. A very long message is cut. */
export function messageOf(error: unknown): string {
  try {
    const message = String(error instanceof Error ? error.message : error);
    if (message.length <= maxMessageLength || ToolEnvError.isInstance(error)) return message;
    return `${message.slice(0, maxMessageLength)}…`;
  } catch {
    return 'an error that cannot be read';
  }
}

/** The text without its full stop, so that a sentence can go on after it. */
export function asClause(text: string): string {
  return text.replace(/[\s.:;,]+$/, '');
}
