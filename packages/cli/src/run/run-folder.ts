/** The folder of a run: protects earlier runs, and exports the trained policy as a Hugging Face folder. */
import { constants, cp, mkdir, readdir, readFile, rename, rm, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { messageOf, ToolEnvError } from '@toolenv/core';
import { checkpointSteps } from '@toolenv/training';

export interface Checkpoint {
  step: number;
  folder: string;
}

const configFile = 'config.json';
/** The files of a checkpoint that only training needs. */
const trainingState = ['optimizer.safetensors', 'critic.safetensors', 'trainer_state.json'];

/**
 * Refuses a folder that has files. Changes nothing.
 * @throws ToolEnvError `usage.out_not_empty`, `usage.not_a_folder`.
 */
export async function refuseUsedFolder(out: string, remedy: string): Promise<void> {
  if ((await filesOf(out)).length === 0) return;
  throw new ToolEnvError('usage.out_not_empty', `--out ${out} is not empty: ${remedy}.`);
}

/**
 * Refuses to resume a different run: every value in `config` must equal the value in the folder's config.json.
 * @throws ToolEnvError `usage.other_run`
 */
export async function refuseOtherRun(out: string, config: Record<string, unknown>): Promise<void> {
  if (!(await filesOf(out)).includes(configFile)) return;
  const earlier = parseConfig(join(out, configFile), await readFile(join(out, configFile), 'utf8'));
  const [before, now] = [flat(earlier), flat(config)];
  const names = new Set([...Object.keys(now), ...Object.keys(before)]);
  for (const name of names) {
    if (!Object.hasOwn(config, name.split('.')[0]!)) continue;
    const [was, is] = [JSON.stringify(before[name]), JSON.stringify(now[name])];
    if (was === is) continue;
    const message = `--resume: the run in ${out} has ${name} ${was ?? 'not set'}, not ${is ?? 'unset'}: give the same, or another --out.`;
    throw new ToolEnvError('usage.other_run', message);
  }
}

/** `{ a: { b: 1 } }` → `{ 'a.b': 1 }`, one level deep. */
function flat(config: Record<string, unknown>): Record<string, unknown> {
  const parts = Object.entries(config).map(([name, value]) => {
    if (typeof value !== 'object' || value === null || Array.isArray(value)) return { [name]: value };
    return Object.fromEntries(Object.entries(value).map(([key, inner]) => [`${name}.${key}`, inner]));
  });
  return Object.assign({}, ...parts);
}

function parseConfig(file: string, content: string): Record<string, unknown> {
  try {
    return JSON.parse(content);
  } catch (error) {
    const message = `${file} is damaged (${messageOf(error)}): give another --out.`;
    throw new ToolEnvError('usage.other_run', message, { cause: error });
  }
}

/** Makes the folder and writes config.json. */
export async function beginRun(out: string, config: Record<string, unknown>): Promise<void> {
  await mkdir(out, { recursive: true });
  await writeWhole(join(out, configFile), `${JSON.stringify(config, null, 2)}\n`);
}

/** Removes the file that {@link beginRun} has written, after a run that failed before its first step. */
export async function abandonRun(out: string): Promise<void> {
  await rm(join(out, configFile), { force: true });
}

/** The checkpoint with the most steps. */
export async function newestCheckpoint(out: string): Promise<Checkpoint | undefined> {
  const step = (await checkpointSteps(out)).at(-1);
  return step === undefined ? undefined : { step, folder: join(out, 'checkpoints', `step-${step}`) };
}

/** Copies a checkpoint without the files that only training needs. The folder appears whole. */
export async function exportPolicy(checkpoint: string, folder: string): Promise<void> {
  const partial = `${folder}.partial`;
  await rm(partial, { recursive: true, force: true });
  await mkdir(partial, { recursive: true });
  for (const name of await readdir(checkpoint)) {
    if (trainingState.includes(name)) continue;
    await cp(join(checkpoint, name), join(partial, name), {
      recursive: true,
      mode: constants.COPYFILE_FICLONE,
    });
  }
  await rm(folder, { recursive: true, force: true });
  await rename(partial, folder);
}

/** Writes a file that is never seen half-written. */
export async function writeWhole(file: string, content: string): Promise<void> {
  await writeFile(`${file}.partial`, content);
  await rename(`${file}.partial`, file);
}

/** Names in a folder; none if the folder does not exist. */
async function filesOf(folder: string): Promise<string[]> {
  try {
    return await readdir(folder);
  } catch (error) {
    const { code } = error as NodeJS.ErrnoException;
    if (code === 'ENOENT') return [];
    if (code !== 'ENOTDIR') throw error;
    throw new ToolEnvError('usage.not_a_folder', `--out ${folder} is a file: name a folder.`);
  }
}
