/** Plays one episode of an environment with a script. */
import {
  type EnvDefinition,
  openEnv,
  playTask,
  type Script,
  type Scripted,
  type Trajectory,
} from '@toolenv/core';

export async function play<Task, Options>(
  definition: EnvDefinition<Task, Options>,
  task: Task,
  script: Script | readonly Scripted[],
  options: Partial<Options> = {},
): Promise<Trajectory> {
  await using env = await openEnv(definition, options);
  return await playTask(env, task, script);
}
