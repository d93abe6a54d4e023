/** The tasks in examples/harbor, on an image that is made here instead of pulled. */
import { cp, readFile, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import type { EnvHandle } from '@toolenv/core';
import { image } from '../../sandbox/slow-test/podman-service.ts';
import type { PlayedTask } from '../src/harbor/played-task.ts';

const examples = join(import.meta.dirname, '../../../examples/harbor');

/** Copies the tasks into a folder. */
export async function copyTasks(folder: string): Promise<void> {
  for (const name of ['errors', 'reverse', 'stock']) {
    await cp(join(examples, name), join(folder, name), { recursive: true });
    const file = join(folder, name, 'environment/Dockerfile');
    await writeFile(file, (await readFile(file, 'utf8')).replace('FROM busybox', `FROM ${image}`));
  }
}

/** A task of the split `test` by its name. */
export async function taskNamed({ tasks }: EnvHandle<PlayedTask>, name: string): Promise<PlayedTask> {
  for (let index = 0; index < (await tasks.test.length); index++) {
    const task = await tasks.test.get(index);
    if (task.name === name) return task;
  }
  throw new Error(`there is no task ${name}`);
}
