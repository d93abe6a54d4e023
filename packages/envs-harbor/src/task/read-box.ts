/** Reads what a task says of a container: `[environment]` or `[verifier.environment]`. */
import { existsSync } from 'node:fs';
import { join } from 'node:path';
import type { BoxSpec, HealthCheck, ImageSource, TaskPolicy } from './harbor-task.ts';
import {
  type EnvironmentTable,
  fillVariables,
  type HealthTable,
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
    ...(table.healthcheck && { health: readHealth(table.healthcheck) }),
    network,
  };
}

/** With Harbor's defaults. */
export function readHealth(table: HealthTable): HealthCheck {
  const { interval_sec: interval = 5, timeout_sec: timeout = 30, retries = 3 } = table;
  const { start_period_sec: startPeriod = 0, start_interval_sec: startInterval = 5 } = table;
  return {
    ...{ command: table.command, retries },
    ...{ timeout: 1000 * timeout, interval: 1000 * interval },
    ...{ startPeriod: 1000 * startPeriod, startInterval: 1000 * startInterval },
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
  refuseVerifierBox(file, 'verifier.environment', task.verifier?.environment);
  for (const [index, step] of (task.steps ?? []).entries()) {
    const key = `steps[${index}]`;
    refuseVerifierBox(file, `${key}.verifier.environment`, step.verifier?.environment);
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
}

/** Harbor, too, checks the agent's container only. */
function refuseVerifierBox(file: string, key: string, table: EnvironmentTable = {}): void {
  refuseBox(file, key, table);
  if (table.healthcheck)
    throw refused(file, `${key}.healthcheck`, 'the containers of verifiers have no health check');
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
