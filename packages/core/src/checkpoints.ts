/** Checkpoints of a run: whole or not there, newest last. */
import { mkdir, readdir, readFile, rename, rm, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { messageOf, ToolEnvError } from './errors.ts';
import type { Learner } from './learner.ts';

/** What resuming needs beside the learner's own files. */
export interface CheckpointState {
  /** Steps done. */
  step: number;
  seed: number;
}

const stateFile = 'trainer_state.json';
const finished = /^step-(\d+)$/;

/** Saves under `<out>/checkpoints/step-<N>`; the folder appears by a rename, so that a killed run leaves no half of one. */
export async function saveCheckpoint(out: string, learner: Learner, state: CheckpointState): Promise<string> {
  const folder = join(out, 'checkpoints', `step-${state.step}`);
  const partial = `${folder}.partial`;
  await rm(partial, { recursive: true, force: true });
  await mkdir(partial, { recursive: true });
  await learner.save(partial);
  await writeFile(join(partial, stateFile), JSON.stringify(state));
  await rm(folder, { recursive: true, force: true });
  await rename(partial, folder);
  return folder;
}

/** Loads the newest checkpoint of `out` into the learner; `undefined` if there is none. */
export async function resumeCheckpoint(out: string, learner: Learner): Promise<CheckpointState | undefined> {
  const steps = (await readdir(join(out, 'checkpoints')).catch(() => []))
    .map((name) => finished.exec(name)?.[1])
    .filter((step) => step !== undefined)
    .map(Number);
  if (steps.length === 0) return undefined;
  const folder = join(out, 'checkpoints', `step-${Math.max(...steps)}`);
  await learner.load(folder);
  try {
    return JSON.parse(await readFile(join(folder, stateFile), 'utf8')) as CheckpointState;
  } catch (error) {
    const message = `${join(folder, stateFile)} is damaged (${messageOf(error)}): delete ${folder} to resume from the one before.`;
    throw new ToolEnvError('usage.checkpoint_damaged', message, { cause: error });
  }
}
