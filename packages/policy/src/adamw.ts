/** AdamW (arXiv 1711.05101; defaults as in PyTorch) over flat parameters. */
import type { AdamW } from '@toolenv/core';

/** All [N]; all but the gradient are updated in place. */
export interface AdamWArrays {
  weight: Float32Array;
  gradient: Float32Array;
  mean: Float32Array;
  variance: Float32Array;
}

/**
 * Step number `step`, counted from 1, of the parameters from index `start` to before `end`.
 * @param gradNorm Global norm of the gradient, which is clipped to `maxGradNorm`.
 * @param decays Whether these parameters decay: biases and norms do not, as in Hugging Face's Trainer.
 */
export function adamwStep(
  { weight, gradient, mean, variance }: AdamWArrays,
  { learningRate, weightDecay = 0, beta1 = 0.9, beta2 = 0.999, epsilon = 1e-8, maxGradNorm }: AdamW,
  {
    start,
    end,
    step,
    gradNorm,
    decays,
  }: { start: number; end: number; step: number; gradNorm: number; decays: boolean },
): void {
  // What does not depend on the parameter is multiplied out.
  const clip = maxGradNorm === undefined ? 1 : Math.min(1, maxGradNorm / (gradNorm + 1e-6));
  const kept = decays ? 1 - learningRate * weightDecay : 1;
  const meanShare = clip * (1 - beta1);
  const varianceShare = clip ** 2 * (1 - beta2);
  const deviationScale = Math.sqrt(1 - beta2 ** step);
  const stepSize = (learningRate * deviationScale) / (1 - beta1 ** step);
  const smallest = epsilon * deviationScale;
  for (let i = start; i < end; i++) {
    const g = gradient[i]!;
    const m = beta1 * mean[i]! + meanShare * g;
    const v = beta2 * variance[i]! + varianceShare * g * g;
    mean[i] = m;
    variance[i] = v;
    weight[i] = kept * weight[i]! - (stepSize * m) / (Math.sqrt(v) + smallest);
  }
}
