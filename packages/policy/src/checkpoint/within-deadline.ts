/** Ends a synchronous computation that takes too long, such as a regular expression of a malicious tokenizer. */
import { createContext, Script } from 'node:vm';

// V8 interrupts whatever runs within a script that has a timeout, functions of this program and regular expressions included.
const context = createContext({ compute: undefined }) as { compute: (() => unknown) | undefined };
const script = new Script('compute()');

/** @returns The result of `compute`; `undefined` if it takes more than `milliseconds`. */
export function withinDeadline<T extends object>(compute: () => T, milliseconds: number): T | undefined {
  const outer = context.compute;
  context.compute = compute;
  try {
    return script.runInContext(context, { timeout: milliseconds }) as T;
  } catch (error) {
    if ((error as { code?: unknown }).code === 'ERR_SCRIPT_EXECUTION_TIMEOUT') return undefined;
    throw error;
  } finally {
    context.compute = outer;
  }
}
