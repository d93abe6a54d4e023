/** playTask: one episode, for tests and for a look at what an environment does. */
import type { EnvDefinition, EnvHandle } from '../env/env-definition.ts';
import { type Script, type Scripted, scriptedPolicy } from '../env/scripted-policy.ts';
import { ToolEnvError } from '../protocol/errors.ts';
import type { Policy } from '../protocol/policy.ts';
import type { Trajectory } from '../protocol/trajectory.ts';
import { completeOptions } from '../schemas/complete-options.ts';
import { collect, type RolloutOptions, rollout } from './rollout.ts';

/** How to play a single episode. */
export type PlayTaskOptions = Partial<
  Pick<RolloutOptions, 'sampling' | 'seed' | 'deadline' | 'onDeadline' | 'signal' | 'retries' | 'onProgress'>
>;

/**
 * Plays one episode of a task, by a script or by a policy: `await playTask(env, task, ['a guess', 'another'])`. Throws as
 * {@link rollout} does.
 * @param env An open environment, or a definition, which is opened with its defaults for this episode.
 * @param options Default: seed 1, greedy, 256 tokens a turn.
 */
export async function playTask<Task>(
  env: RolloutOptions<Task>['env'] | EnvDefinition<Task, never>,
  task: Task | Promise<Task>,
  player: Policy | Script | readonly Scripted[],
  { sampling = { maxTokens: 256, temperature: 0 }, seed = 1, ...options }: PlayTaskOptions = {},
): Promise<Trajectory<Task>> {
  if ('open' in env) {
    const opened = await openAlone(env as EnvDefinition<Task>);
    try {
      return await playTask(opened, task, player, { sampling, seed, ...options });
    } finally {
      await opened.close();
    }
  }
  const policy = 'act' in player ? player : scriptedPolicy(player);
  const episodes = [{ task, group: 0, sample: 0 }];
  const [played] = await collect(
    rollout({ ...options, env, policy, episodes, concurrency: 1, sampling, seed }),
  );
  return played!;
}

/** Opens an environment that needs no tools of plugins, with its defaults. */
async function openAlone<Task>(definition: EnvDefinition<Task>): Promise<EnvHandle<Task> & { ref: string }> {
  const { name, roles, capabilities } = definition;
  if (Object.keys(roles).length > 0) {
    const remedy = 'give await openEnv(definition), which loads them';
    throw new ToolEnvError('usage.rollout', `playTask: ${name} takes tools of plugins: ${remedy}.`);
  }
  const options = completeOptions(definition.options, {}, name);
  const opened = await definition.open({ options, seed: 1, tools: {} });
  return {
    tasks: opened.tasks,
    episode: () => opened.episode(),
    close: () => opened.close(),
    ref: name,
    capabilities,
  };
}
