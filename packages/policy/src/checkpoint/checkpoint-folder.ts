/** checkpointFolder: the folder of a checkpoint that a path or a name of the Hugging Face Hub stands for. */
import { existsSync } from 'node:fs';
import type { MemoryEstimate } from '@toolenv/core/plugins';
import type { ModelParts } from '@toolenv/hub';
import type { ModelConfig } from '../model/model-config.ts';
import { readConfig } from './checkpoint.ts';

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
}

/**
 * A path that exists counts before a name of the Hub. A text that is neither is given back.
 * @throws ToolEnvError What `fetchModel` of @toolenv/hub throws, and `usage.checkpoint_*` for a model that cannot be read.
 */
export async function checkpointFolder(
  name: string,
  { memory, ...options }: FolderOptions = {},
): Promise<CheckpointFolder> {
  if (existsSync(name)) return { folder: name };
  const { fetchModel } = await import('@toolenv/hub');
  const plan = async (folder: string) => ({ memory: memory?.(await readConfig(folder)) });
  const fetched = await fetchModel(name, { ...options, plan });
  if (!fetched) return { folder: name };
  return { folder: fetched.folder, name: fetched.name, revision: fetched.revision };
}
