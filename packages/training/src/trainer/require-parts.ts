/** Refuses a call that lacks the environment or the policy. */
import { ToolEnvError } from '@toolenv/core';

const remedies = {
  env: "open one with await openEnv('<package>/<name>-v<N>'), or openEnv(definition), of @toolenv/core",
  policy: "open one with await loadPolicy('<folder>') of @toolenv/policy",
} as const;

/**
 * @param caller Names the function in errors.
 * @throws ToolEnvError `usage.run`
 */
export function requireParts(
  caller: string,
  given: { env?: unknown; policy?: unknown } | undefined,
  parts: readonly (keyof typeof remedies)[] = ['env', 'policy'],
): void {
  for (const part of parts) {
    const value = given?.[part];
    const isClosed = typeof (value as { open?: unknown } | null | undefined)?.open === 'function';
    if (typeof value === 'object' && value !== null && !(value instanceof Promise) && !isClosed) continue;
    const found = value === undefined ? `needs ${part}` : `${part} is ${describe(value)}`;
    throw new ToolEnvError('usage.run', `${caller}: ${found}: ${remedies[part]}.`);
  }
}

/** @throws ToolEnvError `usage.run` without an environment. */
export function requireEnv<Env>(env: Env | undefined): Env {
  if (env !== undefined) return env;
  throw new ToolEnvError('usage.run', `train: the trainer plays episodes and needs env: ${remedies.env}.`);
}

function describe(value: unknown): string {
  if (value instanceof Promise) return 'a promise, which lacks an await';
  if (typeof value === 'object' && value !== null) return 'a definition, which is not open';
  return typeof value === 'string' ? `the text "${value}"` : String(value);
}

/** @throws ToolEnvError `usage.constrain_calls` if `constrainCalls` is among the options of a training. */
export function refuseConstrainedRollouts(given: object): void {
  if (!Object.hasOwn(given, 'constrainCalls')) return;
  const message =
    'train: constrained calls are drawn from another distribution than the one whose log-probabilities the trainer uses: leave constrainCalls out, and evaluate the trained policy with it.';
  throw new ToolEnvError('usage.constrain_calls', message);
}
