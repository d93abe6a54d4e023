/** Reads what a task says of a container: `[environment]` or `[verifier.environment]`. */
import { existsSync } from 'node:fs';
import { join } from 'node:path';
import type { BoxSpec, ImageSource, TaskPolicy } from './harbor-task.ts';
import { fillVariables } from './host-variables.ts';
import { refuseCompose } from './refusals.ts';
import type { EnvironmentTable } from './task-file.ts';
import { taskMistake } from './task-mistake.ts';

/** Harbor's default for building an image, in seconds. */
const buildTime = 600;

export interface BoxPlace {
  /** task.toml, and the key of the table. */
  file: string;
  key: string;
  policy: TaskPolicy;
  network: boolean;
  /** The image that the container is made from. */
  image: ImageSource;
}

/** @throws ToolEnvError `usage.harbor_task` */
export function readBox(
  table: EnvironmentTable = {},
  { file, key, policy, network, image }: BoxPlace,
): BoxSpec {
  const { workdir, cpus } = table;
  const memory = table.memory_mb ?? sizeOf(table.memory);
  const storage = table.storage_mb ?? sizeOf(table.storage);
  return {
    image,
    env: fillVariables(table.env, { file, key: `${key}.env`, allowed: policy.hostVariables }),
    ...(workdir !== undefined && { workdir }),
    ...(cpus !== undefined && { cpus }),
    ...(memory !== undefined && { memory }),
    ...(storage !== undefined && { storage }),
    network,
  };
}

/**
 * The image that a table names, or the Dockerfile in a folder; `undefined` without either.
 * @throws ToolEnvError `usage.harbor_task` for a folder of several containers.
 */
export function imageSource(
  { docker_image: name, build_timeout_sec: time = buildTime }: EnvironmentTable = {},
  folder: string,
): ImageSource | undefined {
  refuseCompose(folder);
  if (name !== undefined) return { name };
  return existsSync(join(folder, 'Dockerfile')) ? { context: folder, timeout: time * 1000 } : undefined;
}

/** The image of `[environment]`, which every task has. @throws ToolEnvError `usage.harbor_task` */
export function environmentImage(
  table: EnvironmentTable | undefined,
  file: string,
  folder: string,
): ImageSource {
  const found = imageSource(table, folder);
  if (found) return found;
  throw taskMistake(
    file,
    'environment',
    `there is neither docker_image nor ${join(folder, 'Dockerfile')}: add one of them`,
  );
}

/** `2G` → 2048 MiB. */
function sizeOf(text: string | undefined): number | undefined {
  if (text === undefined) return undefined;
  const units: Readonly<Record<string, number>> = { K: 1 / 1024, M: 1, G: 1024 };
  return Math.max(1, Math.floor(Number(text.slice(0, -1)) * units[text.at(-1)!.toUpperCase()]!));
}
