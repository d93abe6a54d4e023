/** Reads what a task says of a container: `[environment]` or `[verifier.environment]`. */
import { existsSync } from 'node:fs';
import { join } from 'node:path';
import type { BoxSpec, ImageSource, TaskPolicy } from './harbor-task.ts';
import {
  type EnvironmentTable,
  fillVariables,
  type StepTable,
  type TaskFile,
  taskMistake,
} from './task-file.ts';

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

/** The only name by which Harbor knows it: files of other names belong to what the task is about. */
const composeFile = 'docker-compose.yaml';

/**
 * What Harbor knows and this environment does not: a task that needs it is refused by name.
 * @throws ToolEnvError `usage.harbor_task`
 */
export function refuseUnsupported(file: string, task: TaskFile): void {
  refuseBox(file, 'environment', task.environment);
  refuseBox(file, 'verifier.environment', task.verifier?.environment);
  for (const [index, step] of (task.steps ?? []).entries()) {
    const key = `steps[${index}]`;
    refuseBox(file, `${key}.verifier.environment`, step.verifier?.environment);
    if (step.healthcheck) throw refused(file, `${key}.healthcheck`, 'health checks are not supported');
    refuseServices(file, key, step);
  }
  refuseServices(file, '', task);
}

/** @throws ToolEnvError `usage.harbor_task` for a folder that describes several containers. */
function refuseCompose(folder: string): void {
  const file = join(folder, composeFile);
  if (existsSync(file))
    throw taskMistake(file, '', 'tasks of several containers are not supported: use a Dockerfile');
}

function refuseBox(file: string, key: string, table: EnvironmentTable = {}): void {
  const { os = 'linux', gpus = 0 } = table;
  if (os.toLowerCase() !== 'linux') throw refused(file, `${key}.os`, `containers of ${os} are not supported`);
  if (gpus > 0) throw refused(file, `${key}.gpus`, 'containers get no GPU');
  if (table.tpu) throw refused(file, `${key}.tpu`, 'containers get no TPU');
  if (table.mcp_servers?.length)
    throw refused(file, `${key}.mcp_servers`, 'MCP servers of tasks are not started');
  if (table.skills_dir) throw refused(file, `${key}.skills_dir`, 'agents get no skills');
  if (table.healthcheck) throw refused(file, `${key}.healthcheck`, 'health checks are not supported');
}

function refuseServices(file: string, key: string, { artifacts, verifier }: TaskFile | StepTable): void {
  const prefix = key === '' ? '' : `${key}.`;
  const other = (service = 'main') => service !== 'main';
  for (const [index, artifact] of (artifacts ?? []).entries())
    if (typeof artifact === 'object' && other(artifact.service))
      throw refused(file, `${prefix}artifacts[${index}].service`, 'there is no service but main');
  for (const [index, { service }] of (verifier?.collect ?? []).entries())
    if (other(service))
      throw refused(file, `${prefix}verifier.collect[${index}].service`, 'there is no service but main');
}

function refused(file: string, key: string, why: string) {
  return taskMistake(file, key, `${why}: leave this task out`);
}
