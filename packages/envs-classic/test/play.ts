/** Plays one episode of an environment with a script. */
import {
  collect,
  type EnvDefinition,
  openEnv,
  rollout,
  type Script,
  type Scripted,
  scriptedPolicy,
  type Trajectory,
} from '@toolenv/core';

export async function play<Task, Options>(
  definition: EnvDefinition<Task, Options>,
  task: Task,
  script: Script | readonly Scripted[],
  options: Partial<Options> = {},
): Promise<Trajectory> {
  const env = await openEnv(definition, options);
  try {
    const [played] = await collect(
      rollout({
        env,
        policy: scriptedPolicy(script),
        episodes: [{ task, group: 0, sample: 0 }],
        concurrency: 1,
        sampling: { maxTokens: 64, temperature: 1 },
        seed: 1,
      }),
    );
    return played!;
  } finally {
    await env.close();
  }
}
