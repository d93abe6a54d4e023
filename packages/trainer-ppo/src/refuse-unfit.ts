/** refuseUnfit: what PPO cannot train. */
import { ToolEnvError } from '@toolenv/core';
import type { AlgorithmContext } from '@toolenv/training';
import type { PpoOptions } from './ppo-options.ts';

/** @throws ToolEnvError `usage.no_critic` or `usage.bad_option` */
export function refuseUnfit({ options, learner, run, parts }: AlgorithmContext<PpoOptions>): void {
  if (!learner.addCritic) {
    const message = `ppo needs a critic, which the learner of ${run.policy.spec.name} cannot have: train with @toolenv/trainer-grpo/grpo-v1.`;
    throw new ToolEnvError('usage.no_critic', message);
  }
  if (options.zeroVariance === 'resample' && options.groupSize < 2) {
    const message =
      'ppo: option "zeroVariance": resample compares the episodes of a task: give a groupSize of 2 or more.';
    throw new ToolEnvError('usage.bad_option', message);
  }
  if (options.credit === 'turn' && parts.advantage) {
    const message = `ppo: option "credit": turn is for the advantage gae; ${parts.advantage.name} has its own credit.`;
    throw new ToolEnvError('usage.bad_option', message);
  }
}
