/** LoRA (arXiv 2106.09685): the model's matrices stay fixed, and W + alpha / rank · B · A replaces each target W. */
import { mkdir, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { createRng, ToolEnvError } from '@toolenv/core';
import {
  readSafetensors,
  type StoredType,
  type StoredTypes,
  writeSafetensors,
} from '../checkpoint/safetensors.ts';
import { type LowRank, parameterShapes } from '../model/decoder.ts';
import type { ModelConfig } from '../model/model-config.ts';
import type { Ops } from '../runtime/ops.ts';
import { Programs } from '../runtime/programs.ts';
import { readTensorData } from '../runtime/resident-tensor.ts';
import { type Runtime, type Tensors, tensor } from '../runtime/runtime.ts';
import type { Shapes } from '../runtime/shape.ts';

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
] as const;
export type LoraTarget = (typeof loraTargets)[number];

/** Parameter names as in Hugging Face's peft, without its prefix. */
const lowRank = { a: 'lora_A.weight', b: 'lora_B.weight' };
const prefixOfPeft = 'base_model.model.';
const folderName = 'adapter';
/** The distance of neighbours of 1. */
const stepOf: Record<StoredType, number> = { float32: 0, bfloat16: 2 ** -7, float16: 2 ** -10 };

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
  readonly #programs: Programs<'merge'> = new Programs();

  /** B starts at 0, so that the adapted model starts equal to the base. */
  constructor(runtime: Runtime, config: ModelConfig, base: Tensors, options: LoraOptions) {
    const { complete, adapted, shapes } = adapterShapes(config, options);
    this.#options = complete;
    this.#runtime = runtime;
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
  async merge(weights: Tensors, before: Tensors = {}): Promise<Tensors> {
    const merging = await this.#programs.get('merge', () =>
      this.#runtime.compile((ops) => this.#merged(ops), { stays: () => true }),
    );
    const merged = { ...this.#base };
    for (const name of this.#adapted.keys()) {
      const inputs = {
        weight: this.#base[name]!,
        a: weights[partOf(name, 'a')]!,
        b: weights[partOf(name, 'b')]!,
      };
      const old = before[name];
      const outputs = await merging.run(inputs, old && !old.dispose ? { merged: old } : {});
      old?.dispose?.();
      merged[name] = outputs.merged!;
    }
    return merged;
  }

  /** Writes the adapter into a folder that peft opens, below the given one. @returns That folder. */
  async save(folder: string, baseName: string): Promise<string> {
    const { rank, alpha, targets } = this.#options;
    const config = {
      peft_type: 'LORA',
      task_type: 'CAUSAL_LM',
      base_model_name_or_path: baseName,
      r: rank,
      lora_alpha: alpha,
      target_modules: targets,
      lora_dropout: 0,
      bias: 'none',
      fan_in_fan_out: false,
      inference_mode: true,
    };
    const at = join(folder, folderName);
    await mkdir(at, { recursive: true });
    await writeFile(join(at, 'adapter_config.json'), `${JSON.stringify(config, null, 2)}\n`);
    const weights = await readTensorData(this.#runtime, this.weights);
    const named = Object.entries(weights).map(([name, value]) => [`${prefixOfPeft}${name}`, value]);
    await writeSafetensors(join(at, 'adapter_model.safetensors'), Object.fromEntries(named), {
      format: 'pt',
    });
    return at;
  }

  /** @throws ToolEnvError `usage.checkpoint_missing`, or `usage.checkpoint_damaged` for a damaged file or other shapes. */
  async read(folder: string): Promise<Tensors> {
    const file = join(folder, folderName, 'adapter_model.safetensors');
    const shapes = new Map([...this.shapes].map(([name, shape]) => [`${prefixOfPeft}${name}`, shape]));
    const { tensors } = await readSafetensors(file, shapes);
    const named = Object.entries(tensors).map(([name, value]) => [name.slice(prefixOfPeft.length), value]);
    return Object.fromEntries(named);
  }

  /**
   * Checks that merging a loaded adapter into this base gives the merged weights that were saved with the adapter.
   * @param types How the `expected` weights are stored, which may have rounded them.
   * @throws ToolEnvError `usage.checkpoint_other_base` if a merged weight differs by more than 1e-4 and the rounding from the expected one.
   */
  async refuseOtherBase(
    weights: Tensors,
    expected: Tensors,
    { folder, types }: { folder: string; types: StoredTypes },
  ): Promise<void> {
    const adapted = [...this.#adapted.keys()];
    const ours = Object.fromEntries(adapted.map((name) => [name, weights[name]!]));
    const found = await readTensorData(this.#runtime, ours);
    for (const name of adapted) {
      const [ours, theirs] = [found[name]!.data, expected[name]!.data];
      const step = stepOf[types[name]!];
      const isNear = (value: number, index: number) =>
        Math.abs(value - theirs[index]!) <= 1e-4 + step * Math.abs(value);
      if (ours.every(isNear)) continue;
      const message = `${folder} was trained from another base model: "${name}" differs. Load it with the base model of its training.`;
      throw new ToolEnvError('usage.checkpoint_other_base', message);
    }
  }

  async close(): Promise<void> {
    await this.#programs.closeAll();
  }

  get #scale(): number {
    return this.#options.alpha / this.#options.rank;
  }

  #part<T>(ops: Ops<T>, name: string, part: keyof typeof lowRank): T {
    return ops.input(partOf(name, part), 'float32', this.shapes.get(partOf(name, part))!);
  }

  /** One matrix [out, in] of any size. */
  #merged<T>(ops: Ops<T>): Record<string, T> {
    const { rank } = this.#options;
    const product = ops.matmul(
      ops.input('b', 'float32', ['out', rank]),
      ops.input('a', 'float32', [rank, 'in']),
      {
        scale: this.#scale,
        exact: true,
      },
    );
    return { merged: ops.add(ops.input('weight', 'float32', ['out', 'in']), product) };
  }
}

function partOf(weight: string, part: keyof typeof lowRank): string {
  return weight.replace(/weight$/, lowRank[part]);
}

/** A is uniform in ±1/√in, as in peft; B is 0. */
function initialWeights(shapes: Shapes, seed: number): Tensors {
  const weights: Tensors = {};
  for (const [name, shape] of shapes) {
    const [rows, columns] = shape as readonly [number, number];
    const rng = createRng(seed, name);
    const bound = name.endsWith(lowRank.a) ? 1 / Math.sqrt(columns) : 0;
    const data = Float32Array.from({ length: rows * columns }, () => bound * (2 * rng.float() - 1));
    weights[name] = tensor(data, shape);
  }
  return weights;
}
