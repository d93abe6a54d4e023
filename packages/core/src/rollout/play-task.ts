/** playTask: one episode, for tests and for a look at what an environment does. */
import { type Script, type Scripted, scriptedPolicy } from '../env/scripted-policy.ts';
import type { Policy } from '../protocol/policy.ts';
import type { Trajectory } from '../protocol/trajectory.ts';
import { collect, type RolloutOptions, rollout } from './rollout.ts';

/** How to play a single episode. */
export type PlayTaskOptions = Partial<
  Pick<RolloutOptions, 'sampling' | 'seed' | 'deadline' | 'onDeadline' | 'signal' | 'retries'>
>;

/**
 * Plays one episode of a task, by a script or by a policy: `await playTask(env, task, ['a guess', 'another'])`. Throws as
 * {@link rollout} does.
 * @param options Default: seed 1, greedy, 256 tokens a turn.
 */
export async function playTask<Task>(
  env: RolloutOptions<Task>['env'],
  task: Task,
  player: Policy | Script | readonly Scripted[],
  { sampling = { maxTokens: 256, temperature: 0 }, seed = 1, ...options }: PlayTaskOptions = {},
): Promise<Trajectory<Task>> {
  const policy = 'act' in player ? player : scriptedPolicy(player);
  const episodes = [{ task, group: 0, sample: 0 }];
  const [played] = await collect(
    rollout({ ...options, env, policy, episodes, concurrency: 1, sampling, seed }),
  );
  return played!;
}
