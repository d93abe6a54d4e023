/** AdamW with global gradient-norm clipping as one program (arXiv 1711.05101; defaults as in PyTorch). */
import type { AdamW } from '@toolenv/core';
import type { Ops, Program } from './ops.ts';
import { type Tensors, tensor } from './runtime.ts';

/** The optimizer's names for what belongs to a parameter. */
export const stateOf = {
  gradient: (name: string): string => `gradient ${name}`,
  mean: (name: string): string => `mean ${name}`,
  variance: (name: string): string => `variance ${name}`,
  /** The name under which the program gives the new value of an input. */
  updated: (name: string): string => `updated ${name}`,
};

const settings = [
  'learningRate',
  'weightDecay',
  'beta1',
  'beta2',
  'epsilon',
  'meanCorrection',
  'varianceCorrection',
  'maxGradNorm',
] as const;

/**
 * The updated weights, means and variances, and `gradNorm` [] before clipping. Weights of one dimension
 * (biases, norms) are not decayed, as in Hugging Face's Trainer.
 */
export function adamwProgram(shapes: ReadonlyMap<string, readonly number[]>): Program {
  return <T>(ops: Ops<T>) => {
    const setting = Object.fromEntries(
      settings.map((name) => [name, ops.input(name, 'float32', [])]),
    ) as Record<(typeof settings)[number], T>;
    const one = ops.scalar(1);
    const parameters = [...shapes].map(([name, shape]) => ({
      name,
      shape,
      weight: ops.input(name, 'float32', shape),
      gradient: ops.input(stateOf.gradient(name), 'float32', shape),
    }));
    const squares = parameters.map(({ gradient }) => ops.mul(gradient, gradient));
    const gradNorm = ops.sqrt(
      squares.map((square) => ops.sumAll(square)).reduce((sum, part) => ops.add(sum, part)),
    );
    const clip = ops.min(one, ops.div(setting.maxGradNorm, ops.add(gradNorm, ops.scalar(1e-6))));
    // Scalars are multiplied with each other first, so that every parameter is read and written as seldom as can be.
    const meanShare = ops.mul(clip, ops.sub(one, setting.beta1));
    const varianceShare = ops.mul(ops.mul(clip, clip), ops.sub(one, setting.beta2));
    const deviationScale = ops.sqrt(setting.varianceCorrection);
    const stepSize = ops.div(ops.mul(setting.learningRate, deviationScale), setting.meanCorrection);
    const epsilon = ops.mul(setting.epsilon, deviationScale);
    const kept = ops.sub(one, ops.mul(setting.learningRate, setting.weightDecay));

    const outputs: Record<string, T> = { gradNorm };
    for (const [index, { name, shape, weight, gradient }] of parameters.entries()) {
      const blend = (state: string, beta: T, fresh: T, share: T) =>
        ops.add(ops.mul(ops.input(state, 'float32', shape), beta), ops.mul(fresh, share));
      const mean = blend(stateOf.mean(name), setting.beta1, gradient, meanShare);
      const variance = blend(stateOf.variance(name), setting.beta2, squares[index]!, varianceShare);
      const deviation = ops.add(ops.sqrt(variance), epsilon);
      const decayed = shape.length < 2 ? weight : ops.mul(weight, kept);
      outputs[stateOf.updated(name)] = ops.sub(decayed, ops.mul(ops.div(mean, deviation), stepSize));
      outputs[stateOf.updated(stateOf.mean(name))] = mean;
      outputs[stateOf.updated(stateOf.variance(name))] = variance;
    }
    return outputs;
  };
}

/** The scalars of optimizer step number `step`, counted from 1. */
export function adamwSettings(options: AdamW, step: number): Tensors {
  const {
    learningRate,
    weightDecay = 0,
    beta1 = 0.9,
    beta2 = 0.999,
    epsilon = 1e-8,
    maxGradNorm = 1e30,
  } = options;
  const values: Record<(typeof settings)[number], number> = {
    learningRate,
    weightDecay,
    beta1,
    beta2,
    epsilon,
    meanCorrection: 1 - beta1 ** step,
    varianceCorrection: 1 - beta2 ** step,
    maxGradNorm,
  };
  return Object.fromEntries(settings.map((name) => [name, tensor(Float32Array.of(values[name]), [])]));
}
