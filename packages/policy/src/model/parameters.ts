/** What a model computes with its parameters: linear maps and norms, by name. */
import type { Ops } from '../runtime/ops.ts';
import { architectureOf } from './known-architectures.ts';
import type { ModelConfig } from './model-config.ts';
import { parameterShapes } from './parameter-shapes.ts';

/** An adapter's addition to the output of the linear map `name` for input `x`; `undefined` if the map is not adapted. */
export type LowRank<T> = (x: T, name: string) => T | undefined;

export interface Parameters<T> {
  weight(name: string): T;
  /** [N, in] → [N, out], with the bias and what an adapter adds. */
  linear(x: T, name: string): T;
  /** Over the last axis. A `plain` norm multiplies by its weights alone, whatever the others add to theirs. */
  norm(x: T, name: string, plain?: boolean): T;
}

/** Each layer of a program asks for them, and a mixture has ten thousands. */
const known: WeakMap<ModelConfig, ReturnType<typeof parameterShapes>> = new WeakMap();

/** @param at What the names are below, such as `model.layers.0.`. */
export function parameters<T>(
  ops: Ops<T>,
  config: ModelConfig,
  lowRank?: LowRank<T>,
  at = '',
): Parameters<T> {
  const shapes = known.get(config) ?? parameterShapes(config);
  known.set(config, shapes);
  const { centred, normOffset } = architectureOf(config);
  const weight = (name: string) => ops.input(`${at}${name}`, 'float32', shapes.get(`${at}${name}`)!);
  return {
    weight,
    linear(x, name) {
      const bias = shapes.has(`${at}${name}.bias`) ? weight(`${name}.bias`) : undefined;
      const y = ops.linear(x, weight(`${name}.weight`), bias);
      const low = lowRank?.(x, `${at}${name}`);
      return low === undefined ? y : ops.add(y, low);
    },
    norm(x, name, plain = false) {
      const given = weight(`${name}.weight`);
      const scale = normOffset === 0 || plain ? given : ops.add(given, ops.scalar(normOffset));
      return ops.rmsNorm(centred ? minusMean(ops, x) : x, scale, config.rms_norm_eps);
    },
  };
}

/** Over the last axis. */
function minusMean<T>(ops: Ops<T>, x: T): T {
  const count = ops.shapeOf(x).at(-1) as number;
  return ops.sub(x, times(ops, ops.sum(x, [-1]), 1 / count));
}

export function times<T>(ops: Ops<T>, x: T, factor: number): T {
  return factor === 1 ? x : ops.mul(x, ops.scalar(factor));
}
