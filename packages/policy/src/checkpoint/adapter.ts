/** LoRA adapters as Hugging Face's peft stores them: adapter_config.json and adapter_model.safetensors. */
import { existsSync } from 'node:fs';
import { mkdir, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { excerpt, messageOf, ToolEnvError } from '@toolenv/core';
import { readRegular } from '@toolenv/core/files';
import { isObject, jsonMistake, recordBounds, tryJson } from '@toolenv/core/schemas';
import type { ModelConfig } from '../model/model-config.ts';
import { parameterShapes } from '../model/parameter-shapes.ts';
import type { Tensor, Tensors } from '../runtime/runtime.ts';
import type { Shapes } from '../runtime/shape.ts';
import { inOneLine } from './in-one-line.ts';
import { readSafetensors, readTensorShapes, writeSafetensors } from './safetensors.ts';

/** What is added to a matrix [out, in]: `scale` · B [out, rank] · A [rank, in]. */
export interface LowRankPair {
  a: Tensor;
  b: Tensor;
  scale: number;
}

/** By the names of the matrices. */
export type LowRankPairs = Readonly<Record<string, LowRankPair>>;

/** An adapter's configuration, without its weights. */
export interface AdapterConfig {
  folder: string;
  /** The model that it adapts: a folder or a name of the Hub. */
  base: string;
  /** Of a base model of the Hub. */
  revision?: string;
  /** By what B · A of a matrix is multiplied. */
  scaleOf(matrix: string, rank: number): number;
}

/** The folder of an adapter in a checkpoint. At the top of it, transformers would apply the adapter to merged weights. */
export const adapterName = 'adapter';
const configFile = 'adapter_config.json';
const weightsFile = 'adapter_model.safetensors';
/** Before the model's own name of a tensor. */
const prefix = 'base_model.model.';
const parts = { a: 'lora_A.weight', b: 'lora_B.weight' };
const wholeModels = ['model.safetensors', 'model.safetensors.index.json'];

/** The folder of the adapter in a checkpoint that has no weights of its own: the folder itself, or `adapter` in it. */
export function adapterFolder(folder: string): string | undefined {
  if (wholeModels.some((file) => existsSync(join(folder, file)))) return undefined;
  return [folder, join(folder, adapterName)].find((at) => existsSync(join(at, configFile)));
}

/** @throws ToolEnvError `usage.checkpoint_damaged`, or `usage.checkpoint_unsupported` for other adapters than plain LoRA. */
export async function readAdapterConfig(folder: string): Promise<AdapterConfig> {
  const file = join(folder, configFile);
  const text = await readRegular(file).catch((error: unknown) => {
    throw damaged(file, messageOf(error));
  });
  const fields = tryJson(text);
  if (!isObject(fields)) throw damaged(file, 'it is not a JSON object');
  const beyond = jsonMistake(fields, recordBounds);
  if (beyond) throw damaged(file, `it is ${beyond.received}`);
  refuseOtherKinds(file, fields);
  const { base_model_name_or_path: base, revision, lora_alpha: alpha, alpha_pattern: alphas } = fields;
  if (typeof base !== 'string' || base === '') throw damaged(file, 'it names no base_model_name_or_path');
  const patterns = Object.entries(isObject(alphas) ? alphas : {});
  for (const [name, value] of [['lora_alpha', alpha] as const, ...patterns])
    if (typeof value !== 'number' || !Number.isFinite(value))
      throw damaged(file, `${inOneLine(name)} is no number`);
  const scaleOf = (matrix: string, rank: number) => {
    const module = matrix.replace(/\.weight$/, '');
    const [, own = alpha] = patterns.find(([name]) => module === name || module.endsWith(`.${name}`)) ?? [];
    return (own as number) / (fields.use_rslora === true ? Math.sqrt(rank) : rank);
  };
  return { folder, base, ...(typeof revision === 'string' && { revision }), scaleOf };
}

/** Fields of LoRA's variants, and their values in plain LoRA. */
const plain: Readonly<Record<string, readonly unknown[]>> = {
  peft_type: ['LORA'],
  bias: ['none'],
  // Other initial adapters change the base model too.
  init_lora_weights: [true, false, 'gaussian', 'orthogonal', 'eva'],
  use_dora: [false],
  fan_in_fan_out: [false],
  lora_bias: [false],
  use_qalora: [false],
  modules_to_save: [],
  trainable_token_indices: [],
  target_parameters: [],
  layer_replication: [],
  alora_invocation_tokens: [],
};

function refuseOtherKinds(file: string, fields: Record<string, unknown>): void {
  const refuse = (what: string) => {
    const message = `${file}: ${what} is not supported: merge the adapter in Python, by merge_and_unload() of peft, and name the merged model.`;
    return new ToolEnvError('usage.checkpoint_unsupported', message);
  };
  for (const [name, values] of Object.entries(plain)) {
    const value = fields[name] ?? null;
    const isEmpty = value === null || (Array.isArray(value) && value.length === 0);
    if (!(isEmpty || values.includes(value))) throw refuse(`${name} ${inOneLine(JSON.stringify(value))}`);
  }
  const { alpha_pattern: alphas } = fields;
  const regular = Object.keys(isObject(alphas) ? alphas : {}).find((name) => /[^\w.]/.test(name));
  if (regular !== undefined) throw refuse(`the expression ${inOneLine(regular)} in alpha_pattern`);
}

/** @throws ToolEnvError `usage.checkpoint_*`, naming a tensor that is not of a matrix of the model. */
export async function readAdapter(
  { folder, scaleOf }: AdapterConfig,
  config: ModelConfig,
): Promise<LowRankPairs> {
  const shapes = await shapesOf(join(folder, weightsFile), parameterShapes(config));
  const tensors = await readAdapterTensors(folder, shapes);
  const pairs = Object.keys(tensors).flatMap((name) => {
    const matrix = matrixOf(name, 'a');
    if (matrix === undefined) return [];
    const [a, b] = [tensors[name]!, tensors[partOf(matrix, 'b')]!];
    return [[matrix, { a, b, scale: scaleOf(matrix, a.dims[0]!) }] as const];
  });
  return Object.fromEntries(pairs);
}

/** A and B of each adapted matrix, in the shapes that fit the matrix. */
async function shapesOf(file: string, matrices: Shapes): Promise<Shapes> {
  const shapes = new Map<string, readonly number[]>();
  for (const [stored, [rank = 0]] of await readTensorShapes(file)) {
    const name = stored.startsWith(prefix) ? stored.slice(prefix.length) : '';
    const matrix = matrixOf(name, 'a') ?? matrixOf(name, 'b') ?? '';
    const [out, into, ...others] = (matrices.get(matrix) ?? []) as readonly number[];
    if (out === undefined || into === undefined || others.length > 0) {
      const message = `${file}: ${JSON.stringify(excerpt(stored))} fits no matrix of the base model: name the adapter's own base model in ${configFile}, or merge the adapter in Python.`;
      throw new ToolEnvError('usage.checkpoint_unsupported', message);
    }
    if (rank === 0) throw damaged(file, `${JSON.stringify(excerpt(stored))} has the rank 0`);
    if (name === partOf(matrix, 'a')) shapes.set(name, [rank, into]).set(partOf(matrix, 'b'), [out, rank]);
  }
  if (shapes.size === 0) throw damaged(file, 'it has no lora_A');
  return shapes;
}

/** The tensors of an adapter by the model's own names. @throws ToolEnvError As `readSafetensors`. */
export async function readAdapterTensors(folder: string, shapes: Shapes): Promise<Tensors> {
  const stored = new Map([...shapes].map(([name, shape]) => [`${prefix}${name}`, shape]));
  const { tensors } = await readSafetensors(join(folder, weightsFile), stored);
  return Object.fromEntries(
    Object.entries(tensors).map(([name, value]) => [name.slice(prefix.length), value]),
  );
}

/** Writes an adapter that peft opens. */
export async function writeAdapter(
  folder: string,
  tensors: Tensors,
  config: Readonly<Record<string, unknown>>,
): Promise<void> {
  await mkdir(folder, { recursive: true });
  const constant = {
    peft_type: 'LORA',
    task_type: 'CAUSAL_LM',
    lora_dropout: 0,
    bias: 'none',
    fan_in_fan_out: false,
    inference_mode: true,
  };
  await writeFile(join(folder, configFile), `${JSON.stringify({ ...constant, ...config }, null, 2)}\n`);
  const named = Object.entries(tensors).map(([name, value]) => [`${prefix}${name}`, value]);
  await writeSafetensors(join(folder, weightsFile), Object.fromEntries(named), { format: 'pt' });
}

/** The name of A or B of a matrix. */
export function partOf(matrix: string, part: 'a' | 'b'): string {
  return matrix.replace(/weight$/, parts[part]);
}

/** The matrix that a tensor is A or B of. */
function matrixOf(name: string, part: 'a' | 'b'): string | undefined {
  return name.endsWith(`.${parts[part]}`) ? `${name.slice(0, -parts[part].length)}weight` : undefined;
}

function damaged(file: string, what: string): ToolEnvError {
  const message = `${file} is damaged (${what}): copy the whole adapter again.`;
  return new ToolEnvError('usage.checkpoint_damaged', message);
}
