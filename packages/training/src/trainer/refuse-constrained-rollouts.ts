/** refuseConstrainedRollouts: an option of evaluations that no training may have. */
import { ToolEnvError } from '@toolenv/core';

/** @throws ToolEnvError `usage.constrain_calls` if `constrainCalls` is among the options of a training. */
export function refuseConstrainedRollouts(given: object): void {
  if (!Object.hasOwn(given, 'constrainCalls')) return;
  const message =
    'train: constrained calls are drawn from another distribution than the one whose log-probabilities the trainer uses: leave constrainCalls out, and evaluate the trained policy with it.';
  throw new ToolEnvError('usage.constrain_calls', message);
}
