/** AdamW (arXiv 1711.05101; defaults as in PyTorch) as a program, and the scalars of one step. */
import type { AdamW } from '@toolenv/core';
import type { Ops } from './ops.ts';
import { type Tensors, tensor } from './runtime.ts';

const settings = ['kept', 'beta1', 'beta2', 'meanShare', 'varianceShare', 'stepSize', 'epsilon'] as const;

/**
 * For any number of parameters: weight, gradient, mean and variance [N] → updatedWeight, updatedMean and
 * updatedVariance [N].
 */
export function adamwProgram<T>(ops: Ops<T>): Record<string, T> {
  const scalar = Object.fromEntries(settings.map((name) => [name, ops.input(name, 'float32', [])])) as Record<
    (typeof settings)[number],
    T
  >;
  const [weight, gradient, mean, variance] = ['weight', 'gradient', 'mean', 'variance'].map((name) =>
    ops.input(name, 'float32', ['N']),
  ) as [T, T, T, T];
  const updatedMean = ops.add(ops.mul(mean, scalar.beta1), ops.mul(gradient, scalar.meanShare));
  const square = ops.mul(gradient, gradient);
  const updatedVariance = ops.add(ops.mul(variance, scalar.beta2), ops.mul(square, scalar.varianceShare));
  const deviation = ops.add(ops.sqrt(updatedVariance), scalar.epsilon);
  const move = ops.mul(ops.div(updatedMean, deviation), scalar.stepSize);
  return { updatedWeight: ops.sub(ops.mul(weight, scalar.kept), move), updatedMean, updatedVariance };
}

/**
 * The scalars of optimizer step number `step`, counted from 1, with what does not depend on the parameter multiplied out.
 * @param gradNorm Global norm of the gradient, which is clipped to `maxGradNorm`.
 * @param decays Whether these parameters decay: biases and norms do not, as in Hugging Face's Trainer.
 */
export function adamwSettings(
  { learningRate, weightDecay = 0, beta1 = 0.9, beta2 = 0.999, epsilon = 1e-8, maxGradNorm }: AdamW,
  { step, gradNorm, decays }: { step: number; gradNorm: number; decays: boolean },
): Tensors {
  const clip = maxGradNorm === undefined ? 1 : Math.min(1, maxGradNorm / (gradNorm + 1e-6));
  const deviationScale = Math.sqrt(1 - beta2 ** step);
  const values: Record<(typeof settings)[number], number> = {
    kept: decays ? 1 - learningRate * weightDecay : 1,
    beta1,
    beta2,
    meanShare: clip * (1 - beta1),
    varianceShare: clip ** 2 * (1 - beta2),
    stepSize: (learningRate * deviationScale) / (1 - beta1 ** step),
    epsilon: epsilon * deviationScale,
  };
  return Object.fromEntries(settings.map((name) => [name, tensor(Float32Array.of(values[name]), [])]));
}
