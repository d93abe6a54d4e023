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
const folderName = /^step-(\d+)$/;
/** Older checkpoints of a run are removed. */
const kept = 3;

/**
 * Saves under `<out>/checkpoints/step-<N>` and returns that folder. It appears by a rename, so that a killed run leaves no
 * half of one. A step that is there already is left alone: a run's steps are the same each time they are done.
 */
export async function saveCheckpoint(out: string, learner: Learner, state: CheckpointState): Promise<string> {
  const steps = await checkpointSteps(out);
  const folder = folderOf(out, state.step);
  if (steps.includes(state.step)) return folder;
  const partial = `${folder}.partial`;
  await rm(partial, { recursive: true, force: true });
  await mkdir(partial, { recursive: true });
  await learner.save(partial);
  await writeFile(join(partial, stateFile), JSON.stringify(state));
  await rename(partial, folder);
  for (const old of steps.slice(0, Math.max(0, steps.length + 1 - kept))) {
    await rm(folderOf(out, old), { recursive: true, force: true });
  }
  return folder;
}

/**
 * Loads the newest checkpoint of `out` into the learner; `undefined` if there is none.
 * @throws ToolEnvError `usage.checkpoint_damaged`
 */
export async function resumeCheckpoint(out: string, learner: Learner): Promise<CheckpointState | undefined> {
  const newest = (await checkpointSteps(out)).at(-1);
  if (newest === undefined) return undefined;
  const folder = folderOf(out, newest);
  await learner.load(folder);
  try {
    return JSON.parse(await readFile(join(folder, stateFile), 'utf8')) as CheckpointState;
  } catch (error) {
    const message = `${join(folder, stateFile)} is damaged (${messageOf(error)}): delete ${folder} to resume from the one before.`;
    throw new ToolEnvError('usage.checkpoint_damaged', message, { cause: error });
  }
}

/** Steps that have a whole checkpoint, ascending. */
export async function checkpointSteps(out: string): Promise<number[]> {
  const names = await readdir(join(out, 'checkpoints')).catch(() => []);
  const steps = names.map((name) => folderName.exec(name)?.[1]).filter((step) => step !== undefined);
  return steps.map(Number).sort((a, b) => a - b);
}

function folderOf(out: string, step: number): string {
  return join(out, 'checkpoints', `step-${step}`);
}
