/** The learning rate of a run that names none. */
import type { Learner } from '@toolenv/core/learner';

/**
 * 1e-6 for all weights, the default of TRL's GRPOConfig (1.16) and of verl's actor. 1e-5 for an adapter: low-rank adapters
 * learn best at ten times the rate of full fine-tuning (Schulman and Thinking Machines Lab, "LoRA Without Regret", 2025).
 * Both are for models of a billion parameters and more. Small models need a higher rate.
 */
export function defaultLearningRate({ trains = 'weights' }: Pick<Learner, 'trains'>): number {
  return trains === 'adapter' ? 1e-5 : 1e-6;
}
