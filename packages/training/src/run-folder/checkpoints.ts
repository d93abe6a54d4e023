/** Checkpoints of a run. A checkpoint is either complete or absent. */
import { createHash } from 'node:crypto';
import { createReadStream } from 'node:fs';
import { readdir, readFile, rename, rm, writeFile } from 'node:fs/promises';
import { join, relative, sep } from 'node:path';
import { messageOf, ToolEnvError } from '@toolenv/core';
import type { Learner } from '@toolenv/core/learner';
import { writing } from '@toolenv/core/recording';
import { validate, wireSchemas } from '@toolenv/core/schemas';
import { writeFolder, writeWhole } from './write-whole.ts';

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
 * exactly; its state is replaced. Only then are older checkpoints removed.
 * @throws ToolEnvError `infrastructure.checkpoint` if it cannot be written. Earlier checkpoints stay.
 */
export async function saveCheckpoint(
  out: string,
  learner: Pick<Learner, 'save'>,
  state: CheckpointState,
  {
    keep = 3,
    best,
  }: {
    /** How many of the newest checkpoints stay. Default 3. */
    keep?: number;
    /** The step of a checkpoint that stays in any case. */
    best?: number | undefined;
  } = {},
): Promise<string> {
  const steps = await checkpointSteps(out);
  const folder = folderOf(out, state.step);
  try {
    if (steps.includes(state.step)) {
      await replaceState(folder, state);
      return folder;
    }
    await writeFolder(folder, async (partial) => {
      await learner.save(partial);
      const stored: StoredState = { version: stateVersion, ...state, sha256: await digests(partial) };
      await writeFile(join(partial, stateFile), JSON.stringify(stored));
    });
  } catch (error) {
    const message = `${folder} cannot be written (${messageOf(error)}): make room, then resume from the previous checkpoint.`;
    throw new ToolEnvError('infrastructure.checkpoint', message, { cause: error });
  }
  for (const old of steps.slice(0, Math.max(0, steps.length + 1 - keep))) {
    if (old !== best) await rm(folderOf(out, old), { recursive: true, force: true });
  }
  return folder;
}

/** A checkpoint that was saved before the evaluation of its step learns of the evaluation. */
async function replaceState(folder: string, state: CheckpointState): Promise<void> {
  const file = join(folder, stateFile);
  const { sha256 } = parseState(await readFile(file, 'utf8'), folder);
  await writeWhole(file, JSON.stringify({ version: stateVersion, ...state, sha256 } satisfies StoredState));
}

/**
 * The step of the best checkpoint, as the newest checkpoint remembers it; `undefined` without `bestMetric`,
 * or if the checkpoint is gone.
 */
export async function bestCheckpointStep(out: string): Promise<number | undefined> {
  const steps = await checkpointSteps(out);
  const newest = steps.at(-1);
  if (newest === undefined) return undefined;
  const folder = folderOf(out, newest);
  const { memory } = parseState(await readFile(join(folder, stateFile), 'utf8'), folder);
  return steps.find((step) => step === memory?.[bestStep]);
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
  const steps = await checkpointSteps(out);
  for (const [index, step] of [...steps.entries()].reverse()) {
    const folder = folderOf(out, step);
    const state = await readState(folder, step).catch((error: unknown) =>
      setAside(folder, error, steps[index - 1]),
    );
    if (!state) continue;
    await learner.load(folder);
    return { step: state.step, seed: state.seed, ...(state.memory && { memory: state.memory }) };
  }
  return undefined;
}

async function setAside(folder: string, error: unknown, before: number | undefined): Promise<undefined> {
  if (ToolEnvError.isInstance(error)) throw error;
  const what = `Checkpoint ${folder} is damaged (${messageOf(error)})`;
  if (before === undefined) {
    const message = `${what} and there is no earlier one: start a new run.`;
    throw new ToolEnvError('usage.checkpoint_damaged', message, { cause: error });
  }
  process.emitWarning(`${what}: resuming from step ${before}.`, 'DamagedCheckpoint');
  const aside = `${folder}.damaged`;
  await writing(aside, async () => {
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
async function readState(folder: string, step: number): Promise<StoredState> {
  const state = parseState(await readFile(join(folder, stateFile), 'utf8'), folder);
  if (state.step !== step)
    throw new Error(`${stateFile}: step: expected ${step}, from the folder's name; received ${state.step}`);
  const found = await digests(folder);
  for (const [name, digest] of Object.entries(state.sha256)) {
    if (found[name] !== digest) throw new Error(`${name} is ${found[name] ? 'changed' : 'missing'}`);
  }
  return state;
}

function parseState(text: string, folder: string): StoredState {
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
    .filter((entry) => entry.isFile())
    .map((entry) => relative(folder, join(entry.parentPath, entry.name)).replaceAll(sep, '/'))
    .filter((name) => name !== stateFile)
    .sort();
  const entries = names.map(async (name) => {
    const hash = createHash('sha256');
    for await (const chunk of createReadStream(join(folder, name))) hash.update(chunk);
    return [name, hash.digest('hex')] as const;
  });
  return Object.fromEntries(await Promise.all(entries));
}

/** Steps that have a checkpoint, ascending. */
export async function checkpointSteps(out: string): Promise<number[]> {
  const names = await readdir(join(out, 'checkpoints')).catch(() => []);
  const steps = names.map((name) => folderName.exec(name)?.[1]).filter((step) => step !== undefined);
  return steps.map(Number).sort((a, b) => a - b);
}

function folderOf(out: string, step: number): string {
  return join(out, 'checkpoints', `step-${step}`);
}
