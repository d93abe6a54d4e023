/** Plays scripts in an environment, one for each task, all with the same seed, so that only the task decides what happens. */
import {
  collect,
  type EnvHandle,
  type Policy,
  rollout,
  type Script,
  type Scripted,
  scriptedPolicy,
  type Trajectory,
} from '@toolenv/core';

/** A script, and the task in which it is played. */
export interface ScriptedEpisode {
  task: unknown;
  script: Script | readonly Scripted[];
}

export interface PlayScriptsOptions {
  env: EnvHandle<unknown>;
  /** Names the episodes. */
  name: string;
  seed: number;
  /** Milliseconds of an episode. */
  deadline: number;
  signal?: AbortSignal | undefined;
}

/** Their trajectories, in their order. A script that makes the environment fail has an aborted episode. */
export function playScripts(
  episodes: readonly ScriptedEpisode[],
  { env, name, seed, ...bounds }: PlayScriptsOptions,
): Promise<Trajectory[]> {
  const requests = episodes.map(({ task }, group) => {
    return { task, group, sample: 0, again: { seed, episodeId: `${name} ${group}` } };
  });
  const policy = new ScriptsPolicy(episodes);
  const sampling = { maxTokens: 1024, temperature: 0 };
  const options = {
    env,
    policy,
    sampling,
    seed,
    concurrency: 8,
    retries: 1,
    onBug: 'abort-episode',
  } as const;
  return collect(rollout({ ...options, ...bounds, episodes: requests }));
}

class ScriptsPolicy implements Policy {
  readonly spec: Policy['spec'] = {
    name: 'panel',
    contextLength: Number.MAX_SAFE_INTEGER,
    capabilities: { images: true },
  };
  readonly #episodes: readonly ScriptedEpisode[];
  readonly #players: Map<string, Policy> = new Map();

  constructor(episodes: readonly ScriptedEpisode[]) {
    this.#episodes = episodes;
  }

  act: Policy['act'] = (observation, options) => {
    const id = options.episodeId!;
    const number = Number(id.slice(id.lastIndexOf(' ')));
    const player = this.#players.get(id) ?? scriptedPolicy(this.#episodes[number]!.script);
    this.#players.set(id, player);
    return player.act(observation, options);
  };

  endEpisode(id: string): void {
    this.#players.delete(id);
  }
}
