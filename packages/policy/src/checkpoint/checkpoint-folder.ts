/** checkpointFolder: the folder of a checkpoint that a path or a name of the Hugging Face Hub stands for, and that of an adapter's base model. */
import { existsSync } from 'node:fs';
import { join } from 'node:path';
import { ToolEnvError } from '@toolenv/core';
import type { MemoryEstimate } from '@toolenv/core/plugins';
import type { ModelParts } from '@toolenv/hub';
import type { ModelConfig } from '../model/model-config.ts';
import { type AdapterConfig, adapterFolder, readAdapterConfig } from './adapter.ts';
import { readConfig } from './checkpoint.ts';
import { inOneLine } from './in-one-line.ts';

export interface FolderOptions {
  /** Which files of a model of the Hub are fetched. Default: all that are read. */
  parts?: ModelParts;
  /** The revision of a name of the Hub without one. Default `main`. */
  revision?: string | undefined;
  /** What training needs, which is said before the weights are fetched. */
  memory?(config: ModelConfig): MemoryEstimate;
  signal?: AbortSignal | undefined;
}

export interface CheckpointFolder {
  folder: string;
  /** `owner/name` of a model of the Hub, and its commit. */
  name?: string;
  revision?: string;
  /** Of a folder without weights of its own. */
  adapter?: AdapterConfig & { of: CheckpointFolder };
}

/**
 * A path that exists counts before a name of the Hub. A text that is neither is given back.
 * @throws ToolEnvError What `fetchModel` of @toolenv/hub throws, and `usage.checkpoint_*` for a model that cannot be read.
 */
export function checkpointFolder(name: string, options: FolderOptions = {}): Promise<CheckpointFolder> {
  return find(name, options, []);
}

/** @param above The adapters that lead here. */
async function find(
  name: string,
  options: FolderOptions,
  above: readonly string[],
): Promise<CheckpointFolder> {
  const found = existsSync(name) ? { folder: name } : await fetched(name, options);
  const at = adapterFolder(found.folder);
  if (at === undefined) return found;
  const adapter = await readAdapterConfig(at);
  if (above.includes(at)) {
    const message = `${at}: the base models of its adapters lead back to it: correct base_model_name_or_path in adapter_config.json.`;
    throw new ToolEnvError('usage.checkpoint_damaged', message);
  }
  const { base, revision } = adapter;
  const of = await find(base, { ...options, revision }, [...above, at]);
  if (!existsSync(of.folder)) {
    const message = `${join(at, 'adapter_config.json')} names the base model ${inOneLine(base, 200)}, which is no folder here: correct base_model_name_or_path.`;
    throw new ToolEnvError('usage.checkpoint_missing', message);
  }
  return { ...found, adapter: { ...adapter, of } };
}

async function fetched(name: string, { memory, ...options }: FolderOptions): Promise<CheckpointFolder> {
  const { fetchModel } = await import('@toolenv/hub');
  // The base model of an adapter says what it needs.
  const isAdapter = (folder: string) => adapterFolder(folder) !== undefined;
  const plan = async (folder: string) => ({
    memory: isAdapter(folder) ? undefined : memory?.(await readConfig(folder)),
  });
  const model = await fetchModel(name, { ...options, plan });
  return model ? { folder: model.folder, name: model.name, revision: model.revision } : { folder: name };
}
