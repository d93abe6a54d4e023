/** Which of several workers this process is: from --worker, or from the variables of the system that started it. */
import { ToolEnvError } from '@toolenv/core';
import type { WorkerShare } from '@toolenv/training';

type Variables = Readonly<Record<string, string | undefined>>;

/**
 * In this order: `--worker 3/8`; TOOLENV_WORKER, in the same form; an array job of Slurm; a task of Slurm's srun; an indexed job of
 * Kubernetes, whose manifest gives the number of workers in TOOLENV_WORKERS; RANK and WORLD_SIZE, as Ray Train and torchrun set
 * them. `undefined` if none of them says it: workers then draw where they begin.
 * @throws ToolEnvError `usage.worker`
 */
export function workerShare(flag: string | undefined, variables: Variables): WorkerShare | undefined {
  const given = flag ?? variables.TOOLENV_WORKER;
  if (given !== undefined) return readShare(given, flag === undefined ? 'TOOLENV_WORKER' : '--worker');
  const number = (name: string) => {
    const value = variables[name];
    return value !== undefined && /^\d+$/.test(value) ? Number(value) : undefined;
  };
  const task = number('SLURM_ARRAY_TASK_ID');
  const first = number('SLURM_ARRAY_TASK_MIN') ?? 0;
  const array =
    task === undefined ? undefined : Math.floor((task - first) / (number('SLURM_ARRAY_TASK_STEP') ?? 1));
  const known: [index: number | undefined, count: number | undefined][] = [
    [array, number('SLURM_ARRAY_TASK_COUNT')],
    [number('SLURM_PROCID'), number('SLURM_NTASKS')],
    [number('JOB_COMPLETION_INDEX'), number('TOOLENV_WORKERS')],
    [number('RANK'), number('WORLD_SIZE')],
  ];
  for (const [index, count] of known)
    if (index !== undefined && count !== undefined && index < count) return { index, count };
  return undefined;
}

function readShare(text: string, where: string): WorkerShare {
  const [, place, count] = (/^(\d+)\/(\d+)$/.exec(text) ?? []).map(Number);
  if (place !== undefined && place >= 1 && place <= count!) return { index: place - 1, count: count! };
  throw new ToolEnvError('usage.worker', `${where} ${text}: write the third of eight workers as 3/8.`);
}
