/** What Harbor knows and this environment does not: a task that needs it is refused by name. */
import { existsSync } from 'node:fs';
import { join } from 'node:path';
import type { EnvironmentTable, StepTable, TaskFile } from './task-file.ts';
import { taskMistake } from './task-mistake.ts';

/** The only name by which Harbor knows it: files of other names belong to what the task is about. */
const composeFile = 'docker-compose.yaml';

/** @throws ToolEnvError `usage.harbor_task` */
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
export function refuseCompose(folder: string): void {
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
