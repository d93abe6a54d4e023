/** Checkpoints of a run. A checkpoint is either complete or absent. */
import { createHash } from 'node:crypto';
import { createReadStream } from 'node:fs';
import { readdir, readFile, rename, rm, writeFile } from 'node:fs/promises';
import { join, relative, sep } from 'node:path';
import { isInfrastructure, messageOf, ToolEnvError } from '@toolenv/core';
import {
  isFolderLost,
  openRegular,
  readRegular,
  refuseLostFolder,
  removePartials,
  withDiskErrors,
  writeAtomic,
  writeFolder,
} from '@toolenv/core/files';
import type { Learner } from '@toolenv/core/learner';
import { validate, wireSchemas } from '@toolenv/core/schemas';

/** What a resumed run needs besides the learner's files. */
export interface CheckpointState {
  /** Updates done. */
  step: number;
  seed: number;
  /** What else the trainer must remember, under its own names. */
  memory?: Record<string, number>;
}

/** The state as it is stored: `checkpoint-state` of the wire schemas. */
interface StoredState extends CheckpointState {
  version: typeof stateVersion;
  /** SHA-256 of every other file of the checkpoint, by name. */
  sha256: Record<string, string>;
}

const stateFile = 'trainer_state.json';
/** How each training task has been played, as `[[index, result], …]`. */
export const taskHistoryFile = 'task_results.json';
/** The groups that a trainer with workers waits for. */
export const openGroupsFile = 'open_groups.json';

export interface RunCheckpoint {
  /** Updates done. */
  step: number;
  folder: string;
}

/** The files of a checkpoint that only training needs. */
export const trainingState: readonly string[] = [
  'optimizer.safetensors',
  'critic.safetensors',
  stateFile,
  taskHistoryFile,
  openGroupsFile,
];

/** The name under which a checkpoint's memory has the step of the best evaluation. */
export const bestStep = 'bestStep';

/** Raised when a state of the earlier version means something else. */
const stateVersion = 1;
const folderName = /^step-(\d+)$/;

/**
 * Saves under `<out>/checkpoints/step-<N>` and returns that folder. The folder appears by a rename, so that a killed run
 * leaves no incomplete checkpoint. The weights of an existing checkpoint of the step are kept, since a run repeats its steps
 * exactly; its state is replaced. Only then are older checkpoints removed: the `keep` newest stay, and that of the step `best`.
 * @throws ToolEnvError `infrastructure.checkpoint` if it cannot be written; `infrastructure.folder_lost`; what the learner throws. Earlier
 *   checkpoints stay.
 */
export async function saveCheckpoint(
  out: string,
  learner: Pick<Learner, 'save'>,
  state: CheckpointState,
  { keep = 3, best }: { keep?: number; best?: number | undefined } = {},
): Promise<string> {
  const earlier = await checkpointsOf(out);
  const folder = join(out, 'checkpoints', `step-${state.step}`);
  try {
    if (earlier.some(({ step }) => step === state.step)) {
      await replaceState(folder, state);
      return folder;
    }
    await writeFolder(folder, async (partial) => {
      await learner.save(partial);
      const stored: StoredState = { version: stateVersion, ...state, sha256: await digests(partial) };
      await writeFile(join(partial, stateFile), JSON.stringify(stored));
    });
  } catch (error) {
    // The machine of the learner failed, and says what to do.
    const isOfLearner = isInfrastructure(error) && error.code !== 'infrastructure.disk';
    if (isFolderLost(error) || isOfLearner) throw error;
    const message = `${folder} cannot be written (${messageOf(error)}): make room, then resume from the previous checkpoint.`;
    throw new ToolEnvError('infrastructure.checkpoint', message, { cause: error });
  }
  for (const old of earlier.slice(0, Math.max(0, earlier.length + 1 - keep)))
    if (old.step !== best) await removeOld(old.folder);
  return folder;
}

/** Folders that could not be removed. Each is named once. */
const stuck = new Set<string>();

/** An old checkpoint that cannot be removed does not end the run. */
async function removeOld(folder: string): Promise<void> {
  await refuseLostFolder(folder);
  await rm(folder, { recursive: true, force: true }).catch((error: unknown) => {
    if (stuck.has(folder)) return;
    stuck.add(folder);
    process.emitWarning(`The old checkpoint ${folder} cannot be removed (${messageOf(error)}): it stays.`);
  });
}

/** A checkpoint that was saved before the evaluation of its step learns of the evaluation. */
async function replaceState(folder: string, state: CheckpointState): Promise<void> {
  const { sha256 } = await readState(folder);
  const stored: StoredState = { version: stateVersion, ...state, sha256 };
  await writeAtomic(join(folder, stateFile), JSON.stringify(stored));
}

/** The checkpoint with the most steps. */
export async function newestCheckpoint(out: string): Promise<RunCheckpoint | undefined> {
  return (await checkpointsOf(out)).at(-1);
}

/**
 * The checkpoint of the best evaluation, as the newest checkpoint remembers it; `undefined` if the run does not look for the
 * best, or if the checkpoint is gone.
 */
export async function bestCheckpoint(out: string): Promise<RunCheckpoint | undefined> {
  const found = await checkpointsOf(out);
  const newest = found.at(-1);
  const memory = newest && (await readState(newest.folder)).memory;
  return found.find(({ step }) => step === memory?.[bestStep]);
}

/**
 * Loads the newest complete checkpoint of `out` into the learner; returns `undefined` if there is none. A damaged
 * checkpoint is renamed to `step-<N>.damaged` with a process warning, and the checkpoint before it is tried.
 * @throws ToolEnvError `usage.checkpoint_damaged` if all checkpoints are damaged, `usage.checkpoint_version` for a checkpoint
 *   of a later version of toolenv; whatever the learner throws.
 */
export async function resumeCheckpoint(
  out: string,
  learner: Pick<Learner, 'load'>,
): Promise<CheckpointState | undefined> {
  await removePartials(join(out, 'checkpoints'));
  const found = await checkpointsOf(out);
  for (const [index, checkpoint] of [...found.entries()].reverse()) {
    const { folder } = checkpoint;
    const state = await checkedState(checkpoint).catch((error: unknown) =>
      setAside(folder, error, found[index - 1]?.step),
    );
    if (!state) continue;
    await learner.load(folder);
    return { step: state.step, seed: state.seed, ...(state.memory && { memory: state.memory }) };
  }
  return undefined;
}

async function setAside(folder: string, error: unknown, before: number | undefined): Promise<undefined> {
  if (ToolEnvError.isInstance(error) && error.code !== 'usage.checkpoint_damaged') throw error;
  const what = `Checkpoint ${folder} is damaged (${messageOf(error)})`;
  if (before === undefined) {
    const message = `${what} and there is no earlier one: start a new run.`;
    throw new ToolEnvError('usage.checkpoint_damaged', message, { cause: error });
  }
  process.emitWarning(`${what}: resuming from step ${before}.`, 'DamagedCheckpoint');
  const aside = `${folder}.damaged`;
  await refuseLostFolder(folder);
  await withDiskErrors(aside, async () => {
    await rm(aside, { recursive: true, force: true });
    await rename(folder, aside);
  });
}

/** A file that a checkpoint has besides those of the learner. */
export interface CheckpointPart {
  readonly file: string;
  write(): string;
  /** Not called for a checkpoint without the file. */
  read(text: string): void;
}

/** A learner whose checkpoints have the files of the parts too. */
export function withParts(
  learner: Pick<Learner, 'save' | 'load'>,
  parts: readonly CheckpointPart[],
): Pick<Learner, 'save' | 'load'> {
  return {
    save: async (folder) => {
      await learner.save(folder);
      for (const part of parts) await writeFile(join(folder, part.file), part.write());
    },
    load: async (folder) => {
      await learner.load(folder);
      for (const part of parts) {
        const text = await readFile(join(folder, part.file), 'utf8').catch(() => undefined);
        if (text !== undefined) part.read(text);
      }
    },
  };
}

/** The state of a checkpoint, after checking its form, and that every file has its recorded digest. */
async function checkedState({ folder, step }: RunCheckpoint): Promise<StoredState> {
  const state = await readState(folder);
  if (state.step !== step)
    throw new Error(`${stateFile}: step: expected ${step}, from the folder's name; received ${state.step}`);
  const found = await digests(folder);
  for (const [name, digest] of Object.entries(state.sha256)) {
    if (found[name] !== digest) throw new Error(`${name} is ${found[name] ? 'changed' : 'missing'}`);
  }
  // A file that nobody recorded may be of another step.
  const unknown = Object.keys(found).find((name) => !Object.hasOwn(state.sha256, name));
  if (unknown !== undefined) throw new Error(`${stateFile}: sha256.${unknown} is missing`);
  return state;
}

async function readState(folder: string): Promise<StoredState> {
  const text = await readRegular(join(folder, stateFile));
  let state: { version?: unknown };
  try {
    state = JSON.parse(text);
  } catch (error) {
    throw new Error(`${stateFile}: ${messageOf(error)}`);
  }
  const version = state?.version;
  if (typeof version === 'number' && version > stateVersion) {
    const message = `${join(folder, stateFile)}: version: a later toolenv wrote ${version}, and this toolenv reads ${stateVersion}: update toolenv.`;
    throw new ToolEnvError('usage.checkpoint_version', message);
  }
  const [wrong] = validate(wireSchemas['checkpoint-state'], state);
  if (!wrong) return state as StoredState;
  const field = wrong.path.slice(1).replaceAll('/', '.') || 'the whole file';
  throw new Error(`${stateFile}: ${field}: expected ${wrong.expected}; received ${wrong.received}`);
}

/** SHA-256, in hexadecimal, of each file below a folder, except the state file. */
async function digests(folder: string): Promise<Record<string, string>> {
  const found = await readdir(folder, { recursive: true, withFileTypes: true });
  const names = found
    .filter((entry) => !entry.isDirectory())
    .map((entry) => relative(folder, join(entry.parentPath, entry.name)).replaceAll(sep, '/'))
    .filter((name) => name !== stateFile)
    .sort();
  const entries = names.map(async (name) => {
    const file = join(folder, name);
    await (await openRegular(file)).close();
    const hash = createHash('sha256');
    for await (const chunk of createReadStream(file)) hash.update(chunk);
    return [name, hash.digest('hex')] as const;
  });
  return Object.fromEntries(await Promise.all(entries));
}

/** By their steps, ascending. */
export async function checkpointsOf(out: string): Promise<RunCheckpoint[]> {
  const names = await readdir(join(out, 'checkpoints')).catch(() => []);
  const found = names.flatMap((name) => {
    const step = folderName.exec(name)?.[1];
    return step === undefined ? [] : [{ step: Number(step), folder: join(out, 'checkpoints', name) }];
  });
  return found.sort((a, b) => a.step - b.step);
}
