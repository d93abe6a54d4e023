/** AdamW (arXiv 1711.05101; defaults as in PyTorch). */
import type { AdamW } from '@toolenv/core/learner';
import type { Ops } from '../runtime/ops.ts';
import { anyShape } from '../runtime/shape.ts';

interface AdamWStep {
  /** Counted from 1. */
  step: number;
  /** Global norm of the gradient, which is clipped to `maxGradNorm`. */
  gradNorm: number;
  /** Whether weight decay applies. It does not apply to biases and norms, as in Hugging Face's Trainer. */
  decays: boolean;
}

/** The factors of the update, which are the same for every parameter. */
type AdamWFactors = Record<
  'kept' | 'keptMean' | 'meanShare' | 'keptVariance' | 'varianceShare' | 'stepSize' | 'smallest',
  number
>;

export function adamwFactors(
  { learningRate, weightDecay = 0, beta1 = 0.9, beta2 = 0.999, epsilon = 1e-8, maxGradNorm }: AdamW,
  { step, gradNorm, decays }: AdamWStep,
): AdamWFactors {
  const clip = maxGradNorm === undefined ? 1 : Math.min(1, maxGradNorm / (gradNorm + 1e-6));
  const deviationScale = Math.sqrt(1 - beta2 ** step);
  return {
    kept: decays ? 1 - learningRate * weightDecay : 1,
    keptMean: beta1,
    meanShare: clip * (1 - beta1),
    keptVariance: beta2,
    varianceShare: clip ** 2 * (1 - beta2),
    stepSize: (learningRate * deviationScale) / (1 - beta1 ** step),
    smallest: epsilon * deviationScale,
  };
}

/** Each array is [N]. All but the gradient are updated in place. */
interface AdamWArrays {
  weight: Float32Array;
  gradient: Float32Array;
  mean: Float32Array;
  variance: Float32Array;
}

/** Updates the parameters from index `start` up to, but not including, `end`. */
export function adamwStep(
  { weight, gradient, mean, variance }: AdamWArrays,
  { kept, keptMean, meanShare, keptVariance, varianceShare, stepSize, smallest }: AdamWFactors,
  { start, end }: { start: number; end: number },
): void {
  for (let i = start; i < end; i++) {
    const g = gradient[i]!;
    const m = keptMean * mean[i]! + meanShare * g;
    const v = keptVariance * variance[i]! + varianceShare * g * g;
    mean[i] = m;
    variance[i] = v;
    weight[i] = kept * weight[i]! - (stepSize * m) / (Math.sqrt(v) + smallest);
  }
}

/**
 * The same update as a program. Inputs: `weight`, `gradient`, `mean` and `variance <index>` of the given rank, and each factor as a scalar.
 * Outputs: `updated weight`, `updated mean` and `updated variance <index>`, because inputs and outputs must have different names.
 */
export function adamwProgram<T>(ops: Ops<T>, index: number, rank: number): Record<string, T> {
  const given = (name: keyof AdamWArrays) => ops.input(`${name} ${index}`, 'float32', anyShape(rank, index));
  const times = (factor: keyof AdamWFactors, x: T) => ops.mul(ops.input(factor, 'float32', []), x);
  const gradient = given('gradient');
  const mean = ops.add(times('keptMean', given('mean')), times('meanShare', gradient));
  const square = ops.mul(gradient, gradient);
  const variance = ops.add(times('keptVariance', given('variance')), times('varianceShare', square));
  const deviation = ops.add(ops.sqrt(variance), ops.input('smallest', 'float32', []));
  const weight = ops.sub(times('kept', given('weight')), ops.div(times('stepSize', mean), deviation));
  return {
    [`updated weight ${index}`]: weight,
    [`updated mean ${index}`]: mean,
    [`updated variance ${index}`]: variance,
  };
}
