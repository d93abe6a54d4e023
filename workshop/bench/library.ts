/** Steps of the environments of the library, each played by its oracle. */
import { type Env, openEnv, type Policy, scriptedPolicy } from '@toolenv/core';
import { findPlugin, listPlugins } from '@toolenv/core/plugins';
import { median } from './median.ts';

/** The environments that need no data. */
const library = listPlugins()
  .filter(({ kind, ref }) => kind === 'envs' && /^@toolenv\/envs-(classic|code|mcp)\//.test(ref))
  .map(({ ref }) => ref);

/** Episodes of a round, each of which plays another task. Each of the others starts a thread or a process. */
const episodesOf = (ref: string) => (ref.startsWith('@toolenv/envs-classic/') ? 100 : 4);

const rounds = 5;

/** Microseconds per step by environment, resets included: the median of the rounds. */
export async function measureLibrary(): Promise<Record<string, number>> {
  const times: Record<string, number> = {};
  for (const ref of library) times[ref] = await measureOracle(ref, episodesOf(ref));
  return times;
}

async function measureOracle(ref: string, episodes: number): Promise<number> {
  const { plugin } = await findPlugin('envs', ref, { from: process.cwd() });
  const env = await openEnv(ref);
  const { train } = env.tasks;
  const count = await train.length;
  const tasks = await Promise.all(Array.from({ length: episodes }, (_, index) => train.get(index % count)));
  const plays = tasks.map((task) => ({ task, oracle: plugin.oracle!(task)! }));
  const episode = env.episode();
  const times: number[] = [];
  for (let round = 0; round <= rounds; round++) {
    const start = performance.now();
    let steps = 0;
    for (const { task, oracle } of plays) steps += await play(episode, task, scriptedPolicy(oracle));
    times.push(((performance.now() - start) * 1e3) / steps);
  }
  await episode.close();
  await env.close();
  // The first round warms up.
  return Number(median(times.slice(1)).toFixed(1));
}

/** The number of steps. */
async function play(env: Env<unknown>, task: unknown, policy: Policy): Promise<number> {
  let observation = await env.reset({ task, seed: 1 });
  for (let steps = 1; ; steps++) {
    const action = await policy.act(observation, { maxTokens: 1, temperature: 0, seed: 1 });
    const transition = await env.step(action);
    if (transition.outcome.kind !== 'running') return steps;
    observation = transition.observation;
  }
}
