/** The optimizer of a run: its learning rate, how the rate changes from step to step, and one step on one batch. */
import { mkdir } from 'node:fs/promises';
import { join } from 'node:path';
import { messageOf, ToolEnvError } from '@toolenv/core';
import { writeAtomic } from '@toolenv/core/files';
import type { AdamW, BackwardOutputs, Learner, TokenBatch, TokenGradients } from '@toolenv/core/learner';
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

/**
 * Accumulates the batch's gradients and steps.
 * @param out Folder of the run: a batch whose loss or gradient is not finite is written there as not-finite-batch.json.
 * @throws ToolEnvError `bug.gradient_not_finite`, before the weights are touched, naming that file.
 */
export async function optimizerStep(
  learner: Learner,
  batch: TokenBatch,
  gradients: TokenGradients,
  { out, ...optimizer }: AdamW & { out: string },
): Promise<{ gradNorm: number; criticGradNorm?: number; outputs?: BackwardOutputs }> {
  try {
    for (const [name, rows] of Object.entries(gradients)) {
      const wrong = batch.rows.findIndex(({ tokens }, b) => rows && rows[b]?.length !== tokens.length);
      if (wrong >= 0) {
        const shape = `${rows![wrong]?.length ?? 'no'} numbers for the ${batch.rows[wrong]!.tokens.length} tokens of row ${wrong}`;
        throw new ToolEnvError(
          'bug.gradient_shape',
          `The trainer gives a ${name} with ${shape}: give [rows][tokens].`,
        );
      }
      if (rows?.some((row: Float32Array) => !row.every(Number.isFinite)))
        throw new ToolEnvError('bug.gradient_not_finite', `The loss gives a ${name} that is not finite.`);
    }
    const outputs = await learner.backward(batch, gradients);
    return { ...(await learner.step(optimizer)), ...(outputs && { outputs }) };
  } catch (error) {
    if (!ToolEnvError.isInstance(error) || error.code !== 'bug.gradient_not_finite') throw error;
    const file = join(out, 'not-finite-batch.json');
    const where = await writeBatch(file, batch, gradients).then(
      () => `the batch is in ${file}`,
      (reason: unknown) => `the batch could not be written to ${file} (${messageOf(reason)})`,
    );
    throw new ToolEnvError(error.code, `${error.message} No weight was touched: ${where}.`, {
      cause: error,
    });
  }
}

/** JSON has no NaN and no infinities, so they are written as strings. */
async function writeBatch(file: string, batch: TokenBatch, gradients: TokenGradients): Promise<void> {
  const numbers = (row: ArrayLike<number>) =>
    Array.from(row, (value) => (Number.isFinite(value) ? value : String(value)));
  const rows = batch.rows.map(({ tokens, mask }, b) => ({
    tokens: numbers(tokens),
    mask: numbers(mask),
    ...Object.fromEntries(
      Object.entries(gradients).flatMap(([name, of]) => (of ? [[name, numbers(of[b])]] : [])),
    ),
  }));
  await mkdir(join(file, '..'), { recursive: true });
  await writeAtomic(file, `${JSON.stringify({ temperature: batch.temperature ?? 1, rows })}\n`);
}
