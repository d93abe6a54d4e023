/** The folder of a run: protects earlier runs, and exports the trained policy as a Hugging Face folder. */
import { constants, cp, mkdir, readdir } from 'node:fs/promises';
import { join } from 'node:path';
import { ToolEnvError } from '@toolenv/core';
import {
  diskError,
  ensureDir,
  isClaim,
  readRegular,
  withDiskErrors,
  writeAtomic,
  writeFolder,
} from '@toolenv/core/files';
import type { Learner } from '@toolenv/core/learner';
import { changeableOptions, type Trainer } from '@toolenv/core/plugins';
import { bestCheckpoint, newestCheckpoint, trainingState } from './checkpoints.ts';
import { configFile, readConfig } from './run-config.ts';
import { changesText, differences, valuesOf } from './run-differences.ts';

/** Makes the folder `runs/<name>-<date and time>`, in local time, and returns its path. A number makes it unique. */
export async function makeFreshFolder(name: string): Promise<string> {
  await ensureDir('runs');
  const now = new Date();
  const local = new Date(now.getTime() - 60_000 * now.getTimezoneOffset()).toISOString();
  const safe = name.replaceAll(/[^\w.-]+/g, '-');
  const base = join('runs', `${safe}-${local.slice(0, 19).replace('T', '-').replaceAll(':', '')}`);
  for (let number = 1; ; number++) {
    const folder = number === 1 ? base : `${base}-${number}`;
    try {
      await mkdir(folder);
      return folder;
    } catch (error) {
      if ((error as NodeJS.ErrnoException).code !== 'EEXIST') throw diskError(error, folder) ?? error;
    }
  }
}

/**
 * Refuses a folder that has files. Changes nothing.
 * @throws ToolEnvError `usage.out_not_empty`, `usage.not_a_folder`.
 */
export async function refuseUsedFolder(out: string, remedy: string): Promise<void> {
  if ((await filesOf(out)).length === 0) return;
  throw new ToolEnvError('usage.out_not_empty', `The folder ${out} is not empty: ${remedy}.`);
}

/**
 * Refuses to begin a run in a folder that has files, and to resume a different run: every value in `config` must equal the value in
 * the folder's config.json, except the trainer's options that may change. Changes nothing.
 * @throws ToolEnvError `usage.out_not_empty`, `usage.other_run` with all differences, `usage.not_a_folder`.
 */
export async function refuseRun(
  out: string,
  config: Readonly<Record<string, unknown>> & { trainerOptions: Readonly<Record<string, unknown>> },
  { trainer, resume, change }: { trainer: Pick<Trainer, 'options'>; resume: boolean; change: boolean },
): Promise<void> {
  if (!resume)
    return refuseUsedFolder(
      out,
      'choose another folder, or resume its run with --resume (in code, resume: true)',
    );
  const names = await filesOf(out);
  const before = names.includes(configFile) ? await readConfig(out) : undefined;
  const episodes = ['evaluation.json', 'summary.json', 'trajectories.jsonl'];
  const isOther = episodes.some((name) => names.includes(name)) && !names.includes('metrics.jsonl');
  if (!before && isOther && !(await newestCheckpoint(out))) {
    const message = `The folder ${out} has episodes and no run of a trainer: choose another folder.`;
    throw new ToolEnvError('usage.other_run', message);
  }
  if (change) return;
  const changeable = changeableOptions(trainer.options, config.trainerOptions);
  const mayChange = changeable.map((option) => `trainerOptions.${option}`);
  if (!before && !(await newestCheckpoint(out))) return;
  if (!before) {
    const message = `The folder ${out} has checkpoints and no ${configFile}, so their options are unknown: restore the file, or accept the present options with --change (in code, change: true).`;
    throw new ToolEnvError('usage.other_run', message);
  }
  const known = Object.fromEntries(Object.entries(before).filter(([name]) => Object.hasOwn(config, name)));
  const all = Object.entries(differences(valuesOf(known), valuesOf(config)));
  const changes = Object.fromEntries(all.filter(([name]) => !mayChange.includes(name)));
  if (Object.keys(changes).length === 0) return;
  const message = `The run in ${out} differs: ${changesText(changes)}. Give the same values or another folder, or allow the change with --change (in code, change: true).`;
  throw new ToolEnvError('usage.other_run', message);
}

/**
 * Copies the best checkpoint, or the newest if the run does not look for the best, to `<out>/policy`, without the files that
 * only training needs, and lets the learner complete it. The folder appears whole. Without a checkpoint it does nothing.
 */
export async function exportPolicy(out: string, learner: Pick<Learner, 'completeExport'>): Promise<void> {
  const checkpoint = (await bestCheckpoint(out)) ?? (await newestCheckpoint(out));
  if (!checkpoint) return;
  const folder = join(out, 'policy');
  const copy = async (partial: string) => {
    for (const name of await readdir(checkpoint.folder)) {
      if (trainingState.includes(name)) continue;
      const options = { recursive: true, mode: constants.COPYFILE_FICLONE };
      await cp(join(checkpoint.folder, name), join(partial, name), options);
    }
    await learner.completeExport?.(partial);
  };
  await withDiskErrors(folder, () => writeFolder(folder, copy));
}

/** The texts that a prompt trainer has found, in the folder of the run and in its checkpoints. */
export const promptsFile = 'prompts.json';

/** Copies the texts of the best checkpoint, or of the newest if the run does not look for the best, to `<out>/prompts.json`. */
export async function exportPrompts(out: string): Promise<void> {
  const checkpoint = (await bestCheckpoint(out)) ?? (await newestCheckpoint(out));
  if (checkpoint)
    await writeAtomic(join(out, promptsFile), await readRegular(join(checkpoint.folder, promptsFile)));
}

/** Names in a folder, without those of locks; none if the folder does not exist. */
async function filesOf(folder: string): Promise<string[]> {
  try {
    return (await readdir(folder)).filter((name) => !isClaim(name));
  } catch (error) {
    const { code } = error as NodeJS.ErrnoException;
    if (code === 'ENOENT') return [];
    if (code !== 'ENOTDIR') throw error;
    throw new ToolEnvError('usage.not_a_folder', `${folder} is a file: name a folder.`);
  }
}
