/** Refuses evaluations that would have nothing to score. */
import { ToolEnvError } from '@toolenv/core';
import type { Run } from '@toolenv/core/plugins';

/** @throws ToolEnvError `usage.bad_option` */
export function refuseIdleEvaluation(
  options: { evaluateEvery: number; evaluateFirst: boolean; evalData?: string },
  { env, evaluateOn = {} }: Run,
): void {
  const isIdle = options.evaluateEvery === 0 && !options.evaluateFirst;
  const hasEnv = env !== undefined || Object.keys(evaluateOn).length > 0;
  if (isIdle || hasEnv || options.evalData !== undefined) return;
  const message =
    'option "evaluateEvery": there is nothing to evaluate on: give evalData, or an environment.';
  throw new ToolEnvError('usage.bad_option', message);
}
