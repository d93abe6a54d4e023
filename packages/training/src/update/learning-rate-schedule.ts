/** The default learning rate, and how the rate changes from step to step: a pure function, so that a resumed run repeats it. */
import { ToolEnvError } from '@toolenv/core';
import type { AdamW, Learner } from '@toolenv/core/learner';
import type { OptimizerOptions } from '../trainer/optimizer-options.ts';

/**
 * 1e-6 for all weights, the default of TRL's GRPOConfig (1.16) and of verl's actor. 1e-5 for an adapter: low-rank adapters
 * learn best at ten times the rate of full fine-tuning (Schulman and Thinking Machines Lab, "LoRA Without Regret", 2025).
 * Both are for models of a billion parameters and more. Small models need a higher rate.
 */
export function defaultLearningRate({ trains = 'weights' }: Pick<Learner, 'trains'>): number {
  return trains === 'adapter' ? 1e-5 : 1e-6;
}

/** The share of the learning rate that a step has. `step` counts from 0. */
export type Schedule = (step: number) => number;

/**
 * The schedules of transformers (`get_scheduler`, and `min_lr_rate` of `cosine_with_min_lr`), with one difference: step `i` of
 * a warm-up of `w` steps has the share (i + 1) / (w + 1) and not i / w, so that the first step learns.
 * @throws ToolEnvError `usage.bad_option` for a warm-up of the schedule `constant`.
 */
export function learningRateSchedule(options: OptimizerOptions & { steps: number }): Schedule {
  const { learningRateSchedule: name, steps, scheduleSteps = steps, minLearningRateRatio: least } = options;
  const warmup = options.warmupSteps || Math.ceil(options.warmupRatio * scheduleSteps);
  if (name === 'constant' && warmup > 0) {
    const message =
      'option "learningRateSchedule": constant has no warm-up: choose constant_with_warmup, linear or cosine, or leave warmupSteps and warmupRatio out.';
    throw new ToolEnvError('usage.bad_option', message);
  }
  return (step) => {
    if (step < warmup) return (step + 1) / (warmup + 1);
    const progress = Math.min(1, (step - warmup) / Math.max(1, scheduleSteps - warmup));
    const falling = { linear: 1 - progress, cosine: 0.5 * (1 + Math.cos(Math.PI * progress)) };
    const share = name === 'linear' || name === 'cosine' ? falling[name] : 1;
    return share * (1 - least) + least;
  };
}

/** An algorithm's optimizer settings with the run's constants of Adam and a share of the learning rates. */
export function scheduledAdamW(
  optimizer: AdamW,
  { adamBeta1, adamBeta2, adamEpsilon }: OptimizerOptions,
  share: number,
): AdamW {
  const { maxGradNorm, ...rest } = optimizer;
  const critic = optimizer.critic?.learningRate;
  return {
    beta1: adamBeta1,
    beta2: adamBeta2,
    epsilon: adamEpsilon,
    ...rest,
    // As in transformers, 0 is no clipping.
    ...(maxGradNorm && { maxGradNorm }),
    learningRate: optimizer.learningRate * share,
    ...(critic !== undefined && { critic: { ...optimizer.critic, learningRate: critic * share } }),
  };
}
