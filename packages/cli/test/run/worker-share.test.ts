/** Which worker a process is, as each system that starts many of them says it. */
import { expect, test } from 'vitest';
import { workerShare } from '../../src/commands/rollout-command.ts';

const third = { index: 2, count: 8 };

test.each([
  ['--worker', '3/8', { TOOLENV_WORKER: '1/8', RANK: '0', WORLD_SIZE: '2' }],
  ['TOOLENV_WORKER', undefined, { TOOLENV_WORKER: '3/8', RANK: '0', WORLD_SIZE: '2' }],
  [
    'an array of Slurm',
    undefined,
    {
      SLURM_ARRAY_TASK_ID: '3',
      SLURM_ARRAY_TASK_MIN: '1',
      SLURM_ARRAY_TASK_COUNT: '8',
      SLURM_PROCID: '0',
      SLURM_NTASKS: '1',
    },
  ],
  [
    'an array of Slurm in steps of 10',
    undefined,
    {
      SLURM_ARRAY_TASK_ID: '20',
      SLURM_ARRAY_TASK_MIN: '0',
      SLURM_ARRAY_TASK_STEP: '10',
      SLURM_ARRAY_TASK_COUNT: '8',
    },
  ],
  ['srun', undefined, { SLURM_PROCID: '2', SLURM_NTASKS: '8' }],
  ['an indexed job of Kubernetes', undefined, { JOB_COMPLETION_INDEX: '2', TOOLENV_WORKERS: '8' }],
  ['Ray Train', undefined, { RANK: '2', WORLD_SIZE: '8' }],
])('%s', (_name, flag, variables) => {
  expect(workerShare(flag, variables)).toEqual(third);
});

test('without a word of it, or with half of it, a worker draws its place', () => {
  expect(workerShare(undefined, {})).toBeUndefined();
  expect(workerShare(undefined, { JOB_COMPLETION_INDEX: '2' })).toBeUndefined();
  expect(workerShare(undefined, { RANK: '8', WORLD_SIZE: '8' })).toBeUndefined();
});

test.each(['0/8', '9/8', '3', '3/', 'a/b', '3/8/2', '-1/8'])('--worker %s is refused', (text) => {
  expect(() => workerShare(text, {})).toThrow(`--worker ${text}: write the third of eight workers as 3/8.`);
});
