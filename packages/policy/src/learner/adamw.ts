/** AdamW (arXiv 1711.05101; defaults as in PyTorch). */
import type { AdamW } from '@toolenv/core/learner';
import type { Ops } from '../runtime/ops.ts';
import { type Tensor, tensor } from '../runtime/runtime.ts';

interface AdamWStep {
  /** Counted from 1. */
  step: number;
  /** Global norm of the gradient, which is clipped to `maxGradNorm`. */
  gradNorm: number;
  /** Whether weight decay applies. It does not apply to biases and norms, as in Hugging Face's Trainer. */
  decays: boolean;
}

const factorNames = [
  'kept',
  'keptMean',
  'meanShare',
  'keptVariance',
  'varianceShare',
  'stepSize',
  'smallest',
] as const;

/** The factors of the update, which are the same for every parameter. */
type AdamWFactors = Record<(typeof factorNames)[number], number>;

export function adamwFactors(
  { learningRate, weightDecay = 0, beta1 = 0.9, beta2 = 0.999, epsilon = 1e-8, maxGradNorm }: AdamW,
  { step, gradNorm, decays }: AdamWStep,
): AdamWFactors {
  const clip = clipOf(maxGradNorm, gradNorm);
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

/** What gradients are multiplied by, so that their norm is at most `maxGradNorm`. */
export function clipOf(maxGradNorm: number | undefined, gradNorm: number): number {
  return maxGradNorm === undefined ? 1 : Math.min(1, maxGradNorm / (gradNorm + 1e-6));
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

/** The factors as the input of {@link adamwProgram}. */
export function factorTensor(factors: AdamWFactors): Tensor {
  return tensor(
    Float32Array.from(factorNames, (name) => factors[name]),
    [factorNames.length],
  );
}

/** The same update as a program. Each of the given values has the same shape. The factors are the input `factors`. */
export function adamwProgram<T>(
  ops: Ops<T>,
  { weight, gradient, mean, variance }: Record<keyof AdamWArrays, T>,
): Record<'weight' | 'mean' | 'variance', T> {
  const factors = ops.split(ops.input('factors', 'float32', [factorNames.length]), 0, factorNames.length);
  const factor = (name: keyof AdamWFactors) => factors[factorNames.indexOf(name)]!;
  const times = (name: keyof AdamWFactors, x: T) => ops.mul(factor(name), x);
  const nextMean = ops.add(times('keptMean', mean), times('meanShare', gradient));
  const square = ops.mul(gradient, gradient);
  const nextVariance = ops.add(times('keptVariance', variance), times('varianceShare', square));
  const deviation = ops.add(ops.sqrt(nextVariance), factor('smallest'));
  const change = ops.div(times('stepSize', nextMean), deviation);
  return { weight: ops.sub(times('kept', weight), change), mean: nextMean, variance: nextVariance };
}
