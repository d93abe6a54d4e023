/** A folder of many tasks: those that cannot be played are listed by reason, and stop no other. */
import { join } from 'node:path';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { readTasks } from '../src/task/read-tasks.ts';
import { newFolder, smallest, writeFiles } from './task-folder.ts';

const image = '[environment]\ndocker_image = "busybox"\n';
const tasks: Record<string, Record<string, string | undefined>> = {
  good: smallest,
  open: { ...smallest, 'task.toml': `${image}allow_internet = true\n` },
  'gpu-1': { ...smallest, 'task.toml': `${image}gpus = 1\n` },
  'gpu-2': { ...smallest, 'task.toml': `${image}gpus = 2\n` },
  compose: { ...smallest, 'environment/docker-compose.yaml': 'services: {}\n' },
  'no-tests': { ...smallest, 'tests/test.sh': undefined },
};

let made: Awaited<ReturnType<typeof newFolder>>;
beforeAll(async () => {
  made = await newFolder();
  for (const [name, files] of Object.entries(tasks)) await writeFiles(join(made.folder, name), files);
});
afterAll(() => made[Symbol.asyncDispose]());

function readAll(options: Partial<Parameters<typeof readTasks>[0]> = {}) {
  const strict = { network: 'none', verifier: 'fresh', hostVariables: [], unplayable: 'refuse' } as const;
  return readTasks({ tasks: made.folder, taskSplit: 'test', ...strict, ...options });
}

const listed = `- 2 tasks, such as gpu-1: task.toml: environment.gpus: containers get no GPU: leave this task out.
- the task compose: environment/docker-compose.yaml: tasks of several containers are not supported: use a Dockerfile.
- the task no-tests: tests/test.sh: there is no such file, and without it nothing is judged: add it.`;

test('all reasons are listed at once, the most frequent first, with the option that skips them', async () => {
  const error = await readAll().catch((thrown: unknown) => thrown);
  expect(error).toMatchObject({ code: 'usage.harbor_task' });
  expect((error as Error).message).toBe(
    `4 of 6 tasks in ${made.folder} cannot be played. Set the option unplayable to skip to leave them out, or mend them.\n${listed}`,
  );
});

test('with the option, the others are played, and what is left out is said', async () => {
  const { splits, notes } = await readAll({ unplayable: 'skip' });
  expect(splits.test.map(({ name }) => name)).toEqual(['good', 'open']);
  expect(notes[0]).toBe(`4 of 6 tasks cannot be played, and are left out.\n${listed}`);
  expect(notes.slice(1)).toEqual([
    expect.stringContaining('1 of 2 tasks ask for a network that they do not get'),
    expect.stringContaining('1 of 2 tasks declare no artifacts'),
  ]);
  const shared = await readAll({ unplayable: 'skip', network: 'declared', verifier: 'shared' });
  expect(shared.notes.slice(1)).toEqual([
    expect.stringContaining('2 of 2 tasks are judged in the container'),
  ]);
});

test('a folder without a task that can be played is refused all the same', async () => {
  const alone = readAll({ tasks: join(made.folder, 'compose'), unplayable: 'skip' });
  await expect(alone).rejects.toThrow(
    `${made.folder}/compose/environment/docker-compose.yaml: tasks of several containers`,
  );
});
