/** state.json of a shared folder: what a trainer wants to be played now, and with which policy. */
import { readFile } from 'node:fs/promises';
import { messageOf, ToolEnvError } from '@toolenv/core';
import { writeWhole } from '../run-folder/write-whole.ts';

export interface TrainingState {
  /** Updates of the newest policy. */
  policyVersion: number;
  /** The name of its folder in `policy/`, unlike that of any other policy of the run. */
  policy: string;
  /** The updates from which the trainer went on, each time that it resumed. */
  restarts: readonly number[];
  /** The groups that are to be played: [number, index of the task]. */
  open: readonly (readonly [group: number, task: number])[];
  finished: boolean;
}

/** `undefined` if no trainer has begun. */
export async function readState(file: string): Promise<TrainingState | undefined> {
  try {
    return JSON.parse(await readFile(file, 'utf8')) as TrainingState;
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'ENOENT') return undefined;
    const message = `${file} is damaged (${messageOf(error)}): begin a run in another folder.`;
    throw new ToolEnvError('usage.other_plan', message, { cause: error });
  }
}

export function writeState(file: string, state: TrainingState): Promise<void> {
  return writeWhole(file, `${JSON.stringify(state)}\n`);
}

/** `version-12`; `version-12-r1` after the trainer has resumed once, since its steps need not repeat to the bit. */
export function versionName(policyVersion: number, restarts: readonly number[]): string {
  const restart = restarts.length === 0 ? '' : `-r${restarts.length}`;
  return `version-${policyVersion}${restart}`;
}

/**
 * Whether the weights of a policy are an ancestor of the present ones: a trainer that resumed at step 10 discarded the policies that
 * had more updates.
 */
export function isOfThisRun(
  { policyVersion = 0, restart = 0 }: { policyVersion?: number; restart?: number },
  restarts: readonly number[],
): boolean {
  return restarts.slice(restart).every((from) => policyVersion <= from);
}
