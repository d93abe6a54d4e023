/** Hugging Face checkpoint folders: config.json, weights in one file or in shards, tokenizer files, chat template. */
import { mkdir, readdir, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { messageOf, ToolEnvError } from '@toolenv/core';
import { readRegular } from '@toolenv/core/files';
import { checkFields } from '../model/check-fields.ts';
import type { ModelConfig } from '../model/model-config.ts';
import { parameterShapes } from '../model/parameter-shapes.ts';
import { readModelConfig } from '../model/read-model-config.ts';
import type { Tensors } from '../runtime/runtime.ts';
import type { LowRankPairs } from './adapter.ts';
import {
  readSafetensors,
  readTensorShapes,
  type StoredType,
  type StoredTypes,
  writeSafetensors,
} from './safetensors.ts';
import { storedNames, textPartOf } from './text-part.ts';
import { addedTokens, checkTokenizer, specialTokenText } from './tokenizer.ts';

export interface Checkpoint {
  folder: string;
  config: ModelConfig;
  weights: Tensors;
  /** How the weights are stored. Default: float32. */
  types?: StoredTypes;
  /** What is added to the weights before anything computes with them. */
  adapters?: readonly LowRankPairs[];
  /** tokenizer.json, parsed. */
  tokenizer: Record<string, unknown>;
  /** tokenizer_config.json, parsed, with `chat_template` from chat_template.jinja if present. It may be several named templates. */
  tokenizerConfig: Record<string, unknown> & {
    chat_template?: string | { name: string; template: string }[];
    /** Of toolenv: whether tools are described by the tool prompt. `false` for a model that knows its tools without being told. */
    tool_prompt?: boolean;
  };
  /** The tokens that end a turn, from generation_config.json, config.json or tokenizer_config.json. At least one. */
  endTokens: number[];
  /** The contents of the small files by name. Saving the checkpoint writes them again. */
  files: Record<string, string>;
}

const weightsFile = 'model.safetensors';
const indexFile = 'model.safetensors.index.json';
const ofTokenizer = ['tokenizer.json', 'tokenizer_config.json', 'chat_template.jinja'];
const copied = ['config.json', 'generation_config.json', ...ofTokenizer];

/**
 * Reads a whole checkpoint.
 * @throws ToolEnvError `usage.checkpoint_*`, naming file and tensor.
 */
export async function readCheckpoint(folder: string): Promise<Checkpoint> {
  const small = await readSmallFiles(folder);
  refuseQuantized(join(folder, 'config.json'), small.config);
  return { ...small, ...(await readWeights(folder, small.config)) };
}

/**
 * The configuration of a model whose weights may not be there yet.
 * @throws ToolEnvError `usage.checkpoint_*`.
 */
export async function readConfig(folder: string): Promise<ModelConfig> {
  const file = join(folder, 'config.json');
  const fields = textPartOf(parseJson(file, await readText(file)));
  refuseQuantized(file, fields);
  return readModelConfig(file, fields);
}

function refuseQuantized(file: string, { quantization_config: quantization }: Record<string, unknown>): void {
  if (quantization == null) return;
  const message = `${file}: quantized weights are not supported; use the unquantized checkpoint.`;
  throw new ToolEnvError('usage.checkpoint_unsupported', message);
}

/** A checkpoint without its weights. `config` has every field of config.json. */
export type SmallFiles = Omit<Checkpoint, 'weights' | 'types' | 'config'> & {
  config: ModelConfig & Record<string, unknown>;
};

/**
 * Reads everything but the weights, which need not be there.
 * @param ofBase The files of an adapter's base model, for those that the folder lacks.
 * @throws ToolEnvError `usage.checkpoint_*`, naming the file.
 */
export async function readSmallFiles(folder: string, ofBase: Checkpoint['files'] = {}): Promise<SmallFiles> {
  const present = await list(folder);
  const gguf = present.find(isGguf);
  if (gguf && !present.includes('config.json')) throw noGguf(join(folder, gguf));
  const hasTokenizer = present.includes('tokenizer.json');
  const files = Object.fromEntries(
    Object.entries(ofBase).filter(([name]) => !(hasTokenizer && ofTokenizer.includes(name))),
  );
  for (const name of copied) if (present.includes(name)) files[name] = await readText(join(folder, name));
  const given = parse(folder, files, 'config.json');
  const text = textPartOf(given);
  // The policy is saved as the model that it is.
  if (text !== given) files['config.json'] = `${JSON.stringify(text, null, 2)}\n`;
  const config = readModelConfig(join(folder, 'config.json'), text);
  const generation = files['generation_config.json'] ? parse(folder, files, 'generation_config.json') : {};
  const tokenizerConfig: Checkpoint['tokenizerConfig'] = parse(folder, files, 'tokenizer_config.json');
  const templates = tokenizerConfig.chat_template ?? null;
  checkFields(join(folder, 'tokenizer_config.json'), templateSchema, templates, 'chat_template');
  checkFields(
    join(folder, 'tokenizer_config.json'),
    { type: ['boolean', 'null'] },
    tokenizerConfig.tool_prompt ?? null,
    'tool_prompt',
  );
  if (files['chat_template.jinja']) tokenizerConfig.chat_template = files['chat_template.jinja'];
  const tokenizer = parse(
    folder,
    files,
    'tokenizer.json',
    "or convert older tokenizer files with transformers' AutoTokenizer.from_pretrained(…).save_pretrained(…)",
  );
  checkTokenizer(folder, tokenizer, config.vocab_size);
  const endText = specialTokenText(tokenizerConfig.eos_token);
  const endToken = addedTokens(tokenizer).find(({ content }) => content === endText)?.id;
  const endTokens = [generation.eos_token_id ?? config.eos_token_id ?? endToken]
    .flat()
    .filter((id) => id !== undefined && id !== null) as number[];
  for (const id of endTokens) {
    if (Number.isInteger(id) && id >= 0 && id < config.vocab_size) continue;
    const given = typeof id === 'number' ? id : `of type ${typeof id}`;
    const message = `${folder}: eos_token_id is ${given} and must be a token below vocab_size, ${config.vocab_size}: correct generation_config.json or config.json.`;
    throw new ToolEnvError('usage.checkpoint_damaged', message);
  }
  if (endTokens.length === 0) {
    const message = `${join(folder, 'config.json')} names no token that ends a turn: set eos_token_id in it or in generation_config.json.`;
    throw new ToolEnvError('usage.checkpoint_unsupported', message);
  }
  return { folder, config, tokenizer, tokenizerConfig, endTokens, files };
}

/**
 * Reads the weights of a folder and their stored types, and checks them against the configuration. Tensors that the model does not
 * have are left out, such as the `lm_head.weight` of tied embeddings.
 * @throws ToolEnvError `usage.checkpoint_*`, naming file and tensor.
 */
export async function readWeights(
  folder: string,
  config: ModelConfig,
): Promise<{ weights: Tensors; types: StoredTypes }> {
  const { source, files } = await locateTensors(folder);
  // A table of the shapes of a billion layers or experts would not fit into memory.
  for (const field of ['num_hidden_layers', 'num_experts'] as const) {
    if ((config[field] ?? 0) <= files.size) continue;
    const given = `${field} is ${config[field]}`;
    const message = `${join(folder, 'config.json')}: ${given}, but ${source} has only ${files.size} tensors: copy the whole checkpoint again.`;
    throw new ToolEnvError('usage.checkpoint_damaged', message);
  }
  const wanted = new Map<string, Map<string, readonly number[]>>();
  const names = new Map<string, string>();
  for (const [name, shape] of parameterShapes(config)) {
    const stored = storedNames(name).find((each) => files.has(each)) ?? name;
    const file = files.get(stored);
    if (file === undefined) {
      const message = `${source} lacks "${name}", which config.json requires: copy the whole checkpoint again.`;
      throw new ToolEnvError('usage.checkpoint_damaged', message);
    }
    names.set(stored, name);
    wanted.set(file, (wanted.get(file) ?? new Map()).set(stored, shape));
  }
  const weights: Tensors = {};
  const types: Record<string, StoredType> = {};
  for (const [file, shapes] of wanted) {
    const read = await readSafetensors(join(folder, file), shapes);
    for (const [stored, values] of Object.entries(read.tensors)) {
      weights[names.get(stored)!] = values;
      types[names.get(stored)!] = read.types[stored]!;
    }
  }
  return { weights, types };
}

/** Several named templates, or one. */
const templateSchema = {
  type: ['string', 'array', 'null'],
  items: {
    type: 'object',
    properties: { name: { type: 'string' }, template: { type: 'string' } },
    required: ['name', 'template'],
  },
};

async function readText(file: string): Promise<string> {
  try {
    return await readRegular(file);
  } catch (error) {
    if (ToolEnvError.isInstance(error)) throw error;
    const message = `${file} cannot be read (${messageOf(error)}): copy it again.`;
    throw new ToolEnvError('usage.checkpoint_damaged', message, { cause: error });
  }
}

async function list(folder: string): Promise<string[]> {
  try {
    return await readdir(folder);
  } catch (error) {
    if (isGguf(folder)) throw noGguf(folder);
    const message = `No checkpoint at ${folder} (${messageOf(error)}): name a Hugging Face folder, or a model of the Hugging Face Hub, such as Qwen/Qwen2.5-0.5B-Instruct.`;
    throw new ToolEnvError('usage.checkpoint_missing', message);
  }
}

/** The file of each tensor in the folder, and `source`: the file that lists the tensors. */
async function locateTensors(folder: string): Promise<{ source: string; files: Map<string, string> }> {
  const present = await list(folder);
  if (!present.includes(weightsFile) && present.includes(indexFile)) {
    const source = join(folder, indexFile);
    const index = parseJson(source, await readText(source));
    const files = new Map<string, string>(Object.entries(index.weight_map ?? {}));
    for (const [name, file] of files) {
      if (present.includes(file)) continue;
      const message = `${source} names ${String(file).slice(0, 200)} for "${name}", and that file is missing: copy the whole checkpoint again.`;
      throw new ToolEnvError('usage.checkpoint_missing', message);
    }
    return { source, files };
  }
  const source = join(folder, weightsFile);
  if (!present.includes(weightsFile)) throw noWeights(folder, present);
  const names = [...(await readTensorShapes(source)).keys()];
  return { source, files: new Map(names.map((name) => [name, weightsFile])) };
}

function isGguf(name: string): boolean {
  return name.toLowerCase().endsWith('.gguf');
}

function noGguf(file: string): ToolEnvError {
  const message = `${file}: GGUF is not supported; name the Hugging Face folder that it was made from, with config.json and *.safetensors.`;
  return new ToolEnvError('usage.checkpoint_unsupported', message);
}

function noWeights(folder: string, present: readonly string[]): ToolEnvError {
  const gguf = present.find(isGguf);
  if (gguf) return noGguf(join(folder, gguf));
  const pickled = present.find((name) => /^pytorch_model.*\.bin$/.test(name));
  if (!pickled) {
    const message = `${join(folder, weightsFile)} and ${indexFile} are missing: name a whole Hugging Face folder.`;
    return new ToolEnvError('usage.checkpoint_missing', message);
  }
  const convert = `AutoModelForCausalLM.from_pretrained("${folder}").save_pretrained("${folder}")`;
  return new ToolEnvError(
    'usage.checkpoint_unsupported',
    `${join(folder, pickled)} is not safetensors: convert it in Python with transformers' ${convert}.`,
  );
}

/**
 * Writes a folder that `transformers` opens. The weights are stored as the checkpoint's `types`, or all as `dtype`; 16-bit types round
 * them. Tensors with numbers that are too large for float16 are stored as float32.
 * @returns The types in which the weights are stored.
 */
export async function writeCheckpoint(
  folder: string,
  checkpoint: Pick<Checkpoint, 'files' | 'weights' | 'types'>,
  { dtype }: { dtype?: StoredType } = {},
): Promise<StoredTypes> {
  const types: Record<string, StoredType> = {};
  for (const [name, { data }] of Object.entries(checkpoint.weights)) {
    const type = dtype ?? checkpoint.types?.[name] ?? 'float32';
    types[name] = type === 'float16' && data.some((value) => Math.abs(value) > 65_504) ? 'float32' : type;
  }
  const { 'config.json': config, ...files } = checkpoint.files;
  await writeSmallFiles(folder, { ...files, ...(config && { 'config.json': withType(config, types) }) });
  await writeSafetensors(join(folder, weightsFile), checkpoint.weights, { format: 'pt' }, types);
  return types;
}

/** Writes the files of a checkpoint but its weights. */
export async function writeSmallFiles(folder: string, files: Checkpoint['files']): Promise<void> {
  await mkdir(folder, { recursive: true });
  for (const [name, content] of Object.entries(files)) await writeFile(join(folder, name), content);
}

/**
 * The same model with an output matrix of its own, where that is the embedding's. On the CPU, vLLM keeps a copy of a shared matrix, which new
 * weights do not reach.
 */
export function untied({
  files,
  weights,
}: Pick<Checkpoint, 'files' | 'weights'>): Pick<Checkpoint, 'files' | 'weights'> {
  if (weights['lm_head.weight']) return { files, weights };
  const config = { ...JSON.parse(files['config.json']!), tie_word_embeddings: false };
  return {
    files: { ...files, 'config.json': `${JSON.stringify(config, null, 2)}\n` },
    weights: { ...weights, 'lm_head.weight': weights['model.embed_tokens.weight']! },
  };
}

/** A config.json whose dtype is that of the stored weights, because `transformers` loads and computes in that dtype. */
function withType(config: string, types: StoredTypes): string {
  const [type, another] = new Set(Object.values(types));
  const fields: Record<string, unknown> = JSON.parse(config);
  // transformers 5 writes dtype; earlier versions write torch_dtype, which all versions read.
  const key = 'dtype' in fields ? 'dtype' : 'torch_dtype';
  if (another !== undefined || (fields[key] ?? 'float32') === type) return config;
  return `${JSON.stringify({ ...fields, [key]: type }, null, 2)}\n`;
}

function parse(
  folder: string,
  files: Record<string, string>,
  name: string,
  otherRemedy?: string,
): Record<string, unknown> {
  const content = files[name];
  if (content === undefined) {
    const remedy = ['name a whole Hugging Face folder', otherRemedy].filter(Boolean).join(', ');
    throw new ToolEnvError('usage.checkpoint_missing', `${join(folder, name)} is missing: ${remedy}.`);
  }
  return parseJson(join(folder, name), content);
}

function parseJson(file: string, content: string): Record<string, unknown> {
  const damaged = (what: string) =>
    new ToolEnvError('usage.checkpoint_damaged', `${file} is not ${what}: copy it again.`);
  let value: unknown;
  try {
    value = JSON.parse(content);
  } catch (error) {
    throw damaged(`JSON (${messageOf(error)})`);
  }
  if (typeof value !== 'object' || value === null || Array.isArray(value)) throw damaged('a JSON object');
  return value as Record<string, unknown>;
}
