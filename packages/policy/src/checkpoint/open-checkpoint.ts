/** openCheckpoint: a checkpoint by its folder or by its name on the Hugging Face Hub. An adapter comes with its base model. */
import { checkpointFolder } from '#checkpoint-folder';
import { readAdapter } from './adapter.ts';
import { type Checkpoint, readCheckpoint, readSmallFiles, type SmallFiles } from './checkpoint.ts';
import type { CheckpointFolder, FolderOptions } from './checkpoint-folder.ts';

export type NamedCheckpoint = Checkpoint & Pick<CheckpointFolder, 'name' | 'revision'>;

/** @throws ToolEnvError As `checkpointFolder` and `readCheckpoint`. */
export async function openCheckpoint(name: string, options: FolderOptions = {}): Promise<NamedCheckpoint> {
  const found = await checkpointFolder(name, options);
  const { name: ofHub, revision } = found;
  return { ...(await readFound(found)), ...(ofHub !== undefined && { name: ofHub, revision }) };
}

/** A checkpoint without its weights, which need not be there. @throws ToolEnvError As `checkpointFolder` and `readSmallFiles`. */
export async function openSmallFiles(name: string): Promise<SmallFiles> {
  return readSmall(await checkpointFolder(name, { parts: 'tokenizer' }));
}

async function readFound({ folder, adapter }: CheckpointFolder): Promise<Checkpoint> {
  if (!adapter) return readCheckpoint(folder);
  const base = await readFound(adapter.of);
  const small = await readSmallFiles(folder, base.files);
  const adapters = [...(base.adapters ?? []), await readAdapter(adapter, base.config)];
  return { ...base, ...small, config: base.config, adapters };
}

async function readSmall({ folder, adapter }: CheckpointFolder): Promise<SmallFiles> {
  return readSmallFiles(folder, adapter && (await readSmall(adapter.of)).files);
}
