/** Refuses a call that lacks the environment or the policy. */
import { ToolEnvError } from '@toolenv/core';

const remedies = {
  env: "open one with openEnv('<package>/<name>-v<N>') of @toolenv/core",
  policy: "open one with loadPolicy('<folder>') of @toolenv/policy",
} as const;

/**
 * @param caller Names the function in errors.
 * @throws ToolEnvError `usage.run`
 */
export function requireParts(caller: string, given: { env?: unknown; policy?: unknown } | undefined): void {
  for (const part of ['env', 'policy'] as const) {
    if (typeof given?.[part] === 'object' && given[part] !== null) continue;
    const found = given?.[part] === undefined ? `needs ${part}` : `${part} is ${describe(given[part])}`;
    throw new ToolEnvError('usage.run', `${caller}: ${found}: ${remedies[part]}.`);
  }
}

function describe(value: unknown): string {
  return typeof value === 'string' ? `the text "${value}"` : String(value);
}
