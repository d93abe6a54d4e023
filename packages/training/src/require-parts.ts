/** Refuses a call that lacks the environment or the policy. */
import { ToolEnvError } from '@toolenv/core';

const remedies = {
  env: "open one with await openEnv('<package>/<name>-v<N>') of @toolenv/core",
  policy: "open one with await loadPolicy('<folder>') of @toolenv/policy",
} as const;

/**
 * @param caller Names the function in errors.
 * @throws ToolEnvError `usage.run`
 */
export function requireParts(caller: string, given: { env?: unknown; policy?: unknown } | undefined): void {
  for (const part of ['env', 'policy'] as const) {
    const value = given?.[part];
    if (typeof value === 'object' && value !== null && !(value instanceof Promise)) continue;
    const found = value === undefined ? `needs ${part}` : `${part} is ${describe(value)}`;
    throw new ToolEnvError('usage.run', `${caller}: ${found}: ${remedies[part]}.`);
  }
}

function describe(value: unknown): string {
  if (value instanceof Promise) return 'a promise, which lacks an await';
  return typeof value === 'string' ? `the text "${value}"` : String(value);
}
