/** The folder of a run: protects earlier runs, and exports the trained policy as a Hugging Face folder. */
import { constants, cp, mkdir, readdir, readFile, rename, rm } from 'node:fs/promises';
import { join } from 'node:path';
import { messageOf, ToolEnvError } from '@toolenv/core';
import { checkpointSteps } from '../checkpoints.ts';
import { writeWhole } from './write-whole.ts';

export interface RunCheckpoint {
  step: number;
  folder: string;
}

const configFile = 'config.json';
/** The files of a checkpoint that only training needs. */
const trainingState = ['optimizer.safetensors', 'critic.safetensors', 'trainer_state.json'];

/** Makes the folder `runs/<name>-<date and time>`, in local time, and returns its path. A number makes it unique. */
export async function makeFreshFolder(name: string): Promise<string> {
  await mkdir('runs', { recursive: true });
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
      if ((error as NodeJS.ErrnoException).code !== 'EEXIST') throw error;
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
 * Refuses to resume a different run: every value in `config` must equal the value in the folder's config.json.
 * @throws ToolEnvError `usage.other_run`, `usage.not_a_folder`.
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
    const message = `The run in ${out} has ${name} ${was ?? 'not set'}, not ${is ?? 'unset'}: give the same, or another folder.`;
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
    const message = `${file} is damaged (${messageOf(error)}): begin a run in another folder.`;
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
export async function newestCheckpoint(out: string): Promise<RunCheckpoint | undefined> {
  const step = (await checkpointSteps(out)).at(-1);
  return step === undefined ? undefined : { step, folder: join(out, 'checkpoints', `step-${step}`) };
}

/**
 * Copies the newest checkpoint to `<out>/policy`, without the files that only training needs. The folder appears whole.
 * Without a checkpoint it does nothing.
 */
export async function exportPolicy(out: string): Promise<void> {
  const checkpoint = await newestCheckpoint(out);
  if (!checkpoint) return;
  const folder = join(out, 'policy');
  const partial = `${folder}.partial`;
  await rm(partial, { recursive: true, force: true });
  await mkdir(partial, { recursive: true });
  for (const name of await readdir(checkpoint.folder)) {
    if (trainingState.includes(name)) continue;
    await cp(join(checkpoint.folder, name), join(partial, name), {
      recursive: true,
      mode: constants.COPYFILE_FICLONE,
    });
  }
  await rm(folder, { recursive: true, force: true });
  await rename(partial, folder);
}

/** Names in a folder; none if the folder does not exist. */
async function filesOf(folder: string): Promise<string[]> {
  try {
    return await readdir(folder);
  } catch (error) {
    const { code } = error as NodeJS.ErrnoException;
    if (code === 'ENOENT') return [];
    if (code !== 'ENOTDIR') throw error;
    throw new ToolEnvError('usage.not_a_folder', `${folder} is a file: name a folder.`);
  }
}
