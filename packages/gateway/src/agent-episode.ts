/** AgentEpisode: what an agent and the reward functions of its environment know of the episode. */
import { type EpisodeContext, type Rewards, ToolEnvError } from '@toolenv/core';
import { RunningEpisode } from '@toolenv/core/env';

/** What an agent is given. */
export interface AgentContext<
  Task = unknown,
  State = unknown,
  Shared = unknown,
  Options = unknown,
  Name extends string = string,
  Text extends string = string,
> extends Pick<
    EpisodeContext<Task, State, Shared, Options, Text>,
    'task' | 'state' | 'shared' | 'options' | 'limits' | 'prompt' | 'episodeId' | 'rng'
  > {
  /** Base URL for clients of OpenAI's APIs: `http://127.0.0.1:<port>/v1`. Clients of Anthropic's add `/v1` themselves where it is absent. */
  readonly baseURL: string;
  /** The key of this episode. Whatever has it talks to the policy in the name of the episode. */
  readonly apiKey: string;
  /** `fetch` whose requests end with the episode. */
  readonly fetch: typeof fetch;
  /** Aborted when the episode ends, whatever ends it. */
  readonly signal: AbortSignal;
  /** Adds to a process reward of the turn that the agent is in. */
  reward(name: Name, value: number): void;
  /** Adds JSON values to the `info` of the turn that the agent is in, for the trajectory. */
  info(values: Readonly<Record<string, unknown>>): void;
}

/** What reward functions know. */
export interface AgentEpisodeContext<
  Task = unknown,
  State = unknown,
  Shared = unknown,
  Options = unknown,
  Result = unknown,
  Text extends string = string,
> extends EpisodeContext<Task, State, Shared, Options, Text> {
  /** What the agent returned. `undefined` while it runs, and if it was stopped or has failed. */
  readonly result: Result | undefined;
}

export class AgentEpisode<Task = unknown> extends RunningEpisode<Task> implements AgentEpisodeContext<Task> {
  result: unknown;
  #earned: Rewards = {};
  #noted: Record<string, unknown> = {};

  /** @throws ToolEnvError `bug.environment` unless the environment declares this process reward. */
  earn(name: string, value: number, processRewards: ReadonlySet<string>): void {
    if (!processRewards.has(name)) {
      const known = [...processRewards].join(', ') || 'none';
      const message = `reward("${name}"): not a process reward of the environment. Process rewards: ${known}.`;
      throw new ToolEnvError('bug.environment', message);
    }
    this.#earned[name] = (this.#earned[name] ?? 0) + value;
  }

  note(values: Readonly<Record<string, unknown>>): void {
    Object.assign(this.#noted, values);
  }

  /** What was noted since it was last taken. */
  takeNoted(): Record<string, unknown> {
    const noted = this.#noted;
    this.#noted = {};
    return noted;
  }

  /** The process rewards since they were last taken. */
  takeEarned(): Rewards {
    const earned = this.#earned;
    this.#earned = {};
    return earned;
  }
}
