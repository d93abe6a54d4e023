/** Hugging Face checkpoint folders: config.json, model.safetensors, tokenizer files, chat template. */
import { mkdir, readdir, readFile, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { messageOf, ToolEnvError } from '@toolenv/core';
import { parameterShapes } from './decoder.ts';
import { type ModelConfig, readModelConfig } from './model-config.ts';
import type { Tensors } from './runtime.ts';
import { readTensors, writeSafetensors } from './safetensors.ts';

export interface Checkpoint {
  folder: string;
  config: ModelConfig;
  weights: Tensors;
  /** tokenizer.json, parsed. */
  tokenizer: Record<string, unknown>;
  /** tokenizer_config.json, parsed; its `chat_template` may also stand in chat_template.jinja. */
  tokenizerConfig: Record<string, unknown> & { chat_template?: string };
  /** generation_config.json or config.json: the tokens that end a turn. */
  endTokens: number[];
  /** The small files as they are, written again when the checkpoint is saved. */
  files: Record<string, string>;
}

const weightsFile = 'model.safetensors';
const copied = [
  'config.json',
  'generation_config.json',
  'tokenizer.json',
  'tokenizer_config.json',
  'chat_template.jinja',
];

/**
 * Reads a whole checkpoint.
 * @throws ToolEnvError `usage.checkpoint_*`, naming file and tensor.
 */
export async function readCheckpoint(folder: string): Promise<Checkpoint> {
  const present = await readdir(folder).catch((error: unknown) => {
    const message = `No checkpoint at ${folder} (${messageOf(error)}): name a Hugging Face folder with --policy.`;
    throw new ToolEnvError('usage.checkpoint_missing', message);
  });
  const files: Record<string, string> = {};
  for (const name of copied)
    if (present.includes(name)) files[name] = await readFile(join(folder, name), 'utf8');
  const config = readModelConfig(join(folder, 'config.json'), parse(folder, files, 'config.json'));
  const generation = files['generation_config.json'] ? parse(folder, files, 'generation_config.json') : {};
  const tokenizerConfig: Checkpoint['tokenizerConfig'] = parse(folder, files, 'tokenizer_config.json');
  if (files['chat_template.jinja']) tokenizerConfig.chat_template = files['chat_template.jinja'];
  const endTokens = [generation.eos_token_id ?? config.eos_token_id]
    .flat()
    .filter((id) => typeof id === 'number');
  const tokenizer = parse(folder, files, 'tokenizer.json');
  return {
    folder,
    config,
    weights: await readWeights(folder, config),
    tokenizer,
    tokenizerConfig,
    endTokens,
    files,
  };
}

/** The weights of a folder, checked against the configuration. */
export async function readWeights(folder: string, config: ModelConfig): Promise<Tensors> {
  const { tensors } = await readTensors(join(folder, weightsFile), parameterShapes(config));
  return tensors;
}

/** Writes a folder that `transformers` opens. */
export async function writeCheckpoint(
  folder: string,
  checkpoint: Pick<Checkpoint, 'files' | 'weights'>,
): Promise<void> {
  await mkdir(folder, { recursive: true });
  for (const [name, content] of Object.entries(checkpoint.files))
    await writeFile(join(folder, name), content);
  await writeSafetensors(join(folder, weightsFile), checkpoint.weights, { format: 'pt' });
}

function parse(folder: string, files: Record<string, string>, name: string): Record<string, unknown> {
  const content = files[name];
  if (content === undefined) {
    throw new ToolEnvError(
      'usage.checkpoint_missing',
      `${join(folder, name)} is missing: name a whole Hugging Face folder.`,
    );
  }
  try {
    return JSON.parse(content);
  } catch (error) {
    const message = `${join(folder, name)} is not JSON (${messageOf(error)}): copy it again.`;
    throw new ToolEnvError('usage.checkpoint_damaged', message);
  }
}
