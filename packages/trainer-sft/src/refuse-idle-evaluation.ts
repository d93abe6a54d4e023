/** Refuses evaluations that would have nothing to score. */
import { ToolEnvError } from '@toolenv/core';
import type { Run } from '@toolenv/core/plugins';

/** @throws ToolEnvError `usage.bad_option` */
export function refuseIdleEvaluation(
  { evaluateEvery, evalData }: { evaluateEvery: number; evalData?: string },
  { env }: Run,
): void {
  if (evaluateEvery === 0 || evalData !== undefined || env !== undefined) return;
  const message =
    'option "evaluateEvery": there is nothing to evaluate on: give evalData, or an environment.';
  throw new ToolEnvError('usage.bad_option', message);
}
