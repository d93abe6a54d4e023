/** LoRA (arXiv 2106.09685): the model's matrices stay fixed, and W + alpha / rank · B · A replaces each target W. */
import { createHash } from 'node:crypto';
import { join } from 'node:path';
import { createRng, ToolEnvError } from '@toolenv/core';
import {
  adapterName,
  type LowRankPairs,
  partOf,
  readAdapterTensors,
  writeAdapter,
} from '../checkpoint/adapter.ts';
import type { ModelConfig } from '../model/model-config.ts';
import { parameterShapes } from '../model/parameter-shapes.ts';
import type { LowRank } from '../model/parameters.ts';
import type { Ops } from '../runtime/ops.ts';
import { readTensorData } from '../runtime/resident-tensor.ts';
import { bytesOf, type Runtime, type Tensors, tensor } from '../runtime/runtime.ts';
import type { Shapes } from '../runtime/shape.ts';
import { AdapterMerge } from './adapter-merge.ts';

export interface LoraOptions {
  /** The number of columns of B and rows of A. */
  rank: number;
  /** Default: twice the rank. */
  alpha?: number;
  /** The projections of each layer to adapt. Default: all, as is common; arXiv 2106.09685 does not prescribe them. */
  targets?: readonly LoraTarget[];
  /** Seeds the initial A. Default 1. */
  seed?: number;
}

export const loraTargets = [
  'q_proj',
  'k_proj',
  'v_proj',
  'o_proj',
  'gate_proj',
  'up_proj',
  'down_proj',
  // Phi-3's projections of queries, keys and values, and of gates and inputs of the MLP.
  'qkv_proj',
  'gate_up_proj',
  // LFM2's MLP and convolutions.
  'w1',
  'w2',
  'w3',
  'in_proj',
  'out_proj',
  // Qwen3.5's delta nets, with the `out_proj` above.
  'in_proj_qkv',
  'in_proj_z',
  'in_proj_b',
  'in_proj_a',
] as const;
export type LoraTarget = (typeof loraTargets)[number];

/**
 * The shapes of A and B of each target, and those of the matrices that they adapt.
 * @throws ToolEnvError `usage.lora`.
 */
export function adapterShapes(
  config: ModelConfig,
  options: LoraOptions,
): { complete: Required<LoraOptions>; adapted: Shapes; shapes: Shapes } {
  const shapesOfBase = parameterShapes(config);
  const isOf = (target: string, name: string) => name.endsWith(`.${target}.weight`);
  const available = loraTargets.filter((target) =>
    [...shapesOfBase.keys()].some((name) => isOf(target, name)),
  );
  const { rank, alpha = 2 * rank, targets = available, seed = 1 } = options;
  if (!Number.isSafeInteger(rank) || rank < 1)
    throw new ToolEnvError('usage.lora', `LoRA: rank is ${rank}; give a whole number of at least 1.`);
  const unknown = targets.find((target) => !available.includes(target));
  if (unknown || targets.length === 0) {
    const message = `LoRA: ${unknown ? `unknown target "${unknown}"` : 'targets is empty'}; choose from ${available.join(', ')}.`;
    throw new ToolEnvError('usage.lora', message);
  }
  const isAdapted = (name: string) => targets.some((target) => isOf(target, name));
  const adapted: Shapes = new Map([...shapesOfBase].filter(([name]) => isAdapted(name)));
  const shapes = new Map<string, readonly number[]>();
  for (const [name, [to, from]] of adapted as ReadonlyMap<string, readonly [number, number]>) {
    shapes.set(partOf(name, 'a'), [rank, from]);
    shapes.set(partOf(name, 'b'), [to, rank]);
  }
  return { complete: { rank, alpha, targets, seed }, adapted, shapes };
}

export class LoraAdapter {
  /** The shapes of A [rank, in] and B [out, rank] of each target. */
  readonly shapes: Shapes;
  /** A and B of each target. */
  weights: Tensors;
  readonly #base: Tensors;
  readonly #options: Required<LoraOptions>;
  readonly #adapted: Shapes;
  readonly #runtime: Runtime;
  readonly #merge: AdapterMerge;
  #identity: Promise<{ base: string }> | undefined;

  /** B starts at 0, so that the adapted model starts equal to the base. */
  constructor(runtime: Runtime, config: ModelConfig, base: Tensors, options: LoraOptions) {
    const { complete, adapted, shapes } = adapterShapes(config, options);
    this.#options = complete;
    this.#runtime = runtime;
    this.#merge = new AdapterMerge(runtime);
    this.#base = base;
    this.#adapted = adapted;
    this.shapes = shapes;
    this.weights = initialWeights(shapes, complete.seed);
  }

  /** The inputs of a program that computes base and adapter separately. */
  get inputs(): Tensors {
    return { ...this.#base, ...this.weights };
  }

  lowRank<T>(ops: Ops<T>): LowRank<T> {
    return (x, name) => {
      const weight = `${name}.weight`;
      if (!this.#adapted.has(weight)) return undefined;
      const [a, b] = [this.#part(ops, weight, 'a'), this.#part(ops, weight, 'b')];
      return ops.linear(ops.mul(ops.linear(x, a), ops.scalar(this.#scale)), b);
    };
  }

  /**
   * The weights of the whole model with the adapter's `weights` merged in, under the names of an ordinary checkpoint.
   * @param before Earlier merged weights. Each is overwritten, or disposed, as soon as its successor is computed.
   */
  merge(weights: Tensors, before?: Tensors): Promise<Tensors> {
    return this.#merge.merge(this.#base, this.#pairs(weights), before);
  }

  /** Writes the adapter into a folder that peft opens, below the given one. @returns That folder. */
  async save(folder: string, baseName: string, weights: Tensors = this.weights): Promise<string> {
    const { rank, alpha, targets } = this.#options;
    const at = join(folder, adapterName);
    const config = { base_model_name_or_path: baseName, r: rank, lora_alpha: alpha, target_modules: targets };
    await writeAdapter(at, await readTensorData(this.#runtime, weights), config);
    return at;
  }

  /** The weights that {@link save} wrote. @throws ToolEnvError `usage.checkpoint_missing`, or `usage.checkpoint_damaged` for other shapes. */
  read(folder: string): Promise<Tensors> {
    return readAdapterTensors(join(folder, adapterName), this.shapes);
  }

  /**
   * Checks that an adapter was trained from this base model.
   * @param identity What {@link identity} gave there.
   * @throws ToolEnvError `usage.checkpoint_other_base`.
   */
  async refuseOtherBase(folder: string, identity: Readonly<Record<string, string>>): Promise<void> {
    if ((await this.identity()).base === identity.base) return;
    const message = `${folder} was trained from another base model: load it with the base model of its training.`;
    throw new ToolEnvError('usage.checkpoint_other_base', message);
  }

  /** `base` is the SHA-256 of the first row of each matrix that is adapted, because fine-tuned models have equal shapes. */
  identity(): Promise<{ base: string }> {
    this.#identity ??= this.#digest().then((base) => ({ base }));
    return this.#identity;
  }

  async #digest(): Promise<string> {
    const program = await this.#runtime.compile((ops) => {
      const weight = ops.input('weight', 'float32', ['out', 'in']);
      return { row: ops.gatherRows(weight, ops.input('first', 'int32', ['N'])) };
    });
    const hash = createHash('sha256');
    const first = tensor(Int32Array.of(0), [1]);
    for (const name of this.#adapted.keys()) {
      const { row } = await program.run({ weight: this.#base[name]!, first });
      hash.update(bytesOf(row!.data));
    }
    await program.close();
    return hash.digest('hex');
  }

  async close(): Promise<void> {
    await this.#merge.close();
  }

  get #scale(): number {
    return this.#options.alpha / this.#options.rank;
  }

  #part<T>(ops: Ops<T>, name: string, part: 'a' | 'b'): T {
    return ops.input(partOf(name, part), 'float32', this.shapes.get(partOf(name, part))!);
  }

  #pairs(weights: Tensors): LowRankPairs {
    const pairOf = (name: string) => ({
      a: weights[partOf(name, 'a')]!,
      b: weights[partOf(name, 'b')]!,
      scale: this.#scale,
    });
    return Object.fromEntries([...this.#adapted.keys()].map((name) => [name, pairOf(name)]));
  }
}

/** A is uniform in ±1/√in, as in peft; B is 0. */
function initialWeights(shapes: Shapes, seed: number): Tensors {
  const weights: Tensors = {};
  for (const [name, shape] of shapes) {
    const [rows, columns] = shape as readonly [number, number];
    const rng = createRng(seed, name);
    const bound = name.endsWith('.lora_A.weight') ? 1 / Math.sqrt(columns) : 0;
    const data = Float32Array.from({ length: rows * columns }, () => bound * (2 * rng.float() - 1));
    weights[name] = tensor(data, shape);
  }
  return weights;
}
