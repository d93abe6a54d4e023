/** Averages over episodes: the one place that says which episodes count, and what is counted of each. */
import { episodeLeft } from '../protocol/outcome.ts';
import type { Rewards } from '../protocol/reward.ts';
import type { Trajectory } from '../protocol/trajectory.ts';

/** What the averages need of a trajectory, which then need not be kept. */
export interface EpisodeSummary {
  /** Place in the rollout's plan. */
  index: number;
  /** Code of the infrastructure fault that ended the episode; absent if the episode was scored. */
  fault?: string;
  /** How it ended: `terminated:answered`, `truncated:max_turns`. */
  end: string;
  /** `null` for an aborted episode. */
  reward: number | null;
  rewards: Rewards;
  /** Turns of the policy. */
  turns: number;
  /** Tool calls, mistaken calls included. */
  calls: number;
  /** Calls that were a mistake of the model. */
  mistakes: number;
  /** Calls that were a mistake, or that the tool answered with `isError`. */
  failures: number;
  /** Tokens that the policy generated. */
  tokens: number;
}

export function summariseEpisode({ index, outcome, reward, rewards, steps }: Trajectory): EpisodeSummary {
  const calls = steps.flatMap((step) => step.calls);
  return {
    index,
    ...(outcome.kind === 'aborted' && { fault: outcome.cause.code }),
    end: 'reason' in outcome ? `${outcome.kind}:${outcome.reason}` : outcome.kind,
    reward,
    rewards,
    turns: steps.length,
    calls: calls.length,
    mistakes: calls.filter(({ mistake }) => mistake !== undefined).length,
    failures: calls.filter(({ mistake, result }) => mistake !== undefined || result?.isError === true).length,
    tokens: steps.reduce((sum, { action }) => sum + (action.tokens?.action.length ?? 0), 0),
  };
}

/** Running means over the scored episodes, in constant memory. Aborted episodes are counted and enter no mean. */
export class EpisodeStatistics {
  #episodes = 0;
  #aborted = 0;
  #unfinished = 0;
  #generatedTokens = 0;
  readonly #outcomes: Record<string, number> = {};
  readonly #means: Map<string, Mean> = new Map();
  readonly #rewards: Map<string, Mean> = new Map();

  /** Episodes that ended by themselves or were truncated. */
  get episodes(): number {
    return this.#episodes;
  }

  /** Episodes that an infrastructure fault ended. */
  get aborted(): number {
    return this.#aborted;
  }

  /** Episodes that their player left before the end. */
  get unfinished(): number {
    return this.#unfinished;
  }

  /** Tokens that the policy generated in all episodes, aborted episodes included. */
  get generatedTokens(): number {
    return this.#generatedTokens;
  }

  /** Scored episodes by how they ended. */
  get outcomes(): Record<string, number> {
    return { ...this.#outcomes };
  }

  /** Mean of each component over the episodes that scored it. */
  get rewards(): Record<string, number> {
    return Object.fromEntries([...this.#rewards].map(([name, { sum, count }]) => [name, sum / count]));
  }

  /** Mean weighted reward; like all means below, `null` before the first scored episode. */
  get reward(): number | null {
    return this.#mean('reward');
  }

  /** Mean number of the policy's turns. */
  get turns(): number | null {
    return this.#mean('turns');
  }

  /** Mean number of tool calls, mistaken calls included. */
  get calls(): number | null {
    return this.#mean('calls');
  }

  /** Mean number of calls that were mistakes of the model. */
  get mistakes(): number | null {
    return this.#mean('mistakes');
  }

  /** Mean number of calls that were mistakes, or that the tool answered with `isError`. */
  get failures(): number | null {
    return this.#mean('failures');
  }

  /** Mean number of tokens that the policy generated. */
  get tokens(): number | null {
    return this.#mean('tokens');
  }

  /** Mean wall-clock time, of the episodes whose time is known. */
  get seconds(): number | null {
    return this.#mean('seconds');
  }

  /** @param seconds Wall-clock time of the episode, if it was measured. */
  add(episode: EpisodeSummary, seconds?: number): void {
    const { fault, end, reward, rewards, turns, calls, mistakes, failures, tokens } = episode;
    this.#generatedTokens += tokens;
    if (fault !== undefined) {
      if (fault === episodeLeft) this.#unfinished += 1;
      else this.#aborted += 1;
      return;
    }
    this.#episodes += 1;
    this.#outcomes[end] = (this.#outcomes[end] ?? 0) + 1;
    const numbers = { reward, turns, calls, mistakes, failures, tokens, seconds };
    for (const [name, value] of Object.entries(numbers)) addTo(this.#means, name, value);
    for (const [name, value] of Object.entries(rewards)) addTo(this.#rewards, name, value);
  }

  #mean(name: string): number | null {
    const mean = this.#means.get(name);
    return mean ? mean.sum / mean.count : null;
  }
}

interface Mean {
  sum: number;
  count: number;
}

function addTo(means: Map<string, Mean>, name: string, value: number | null | undefined): void {
  if (value === null || value === undefined) return;
  const { sum, count } = means.get(name) ?? { sum: 0, count: 0 };
  means.set(name, { sum: sum + value, count: count + 1 });
}
