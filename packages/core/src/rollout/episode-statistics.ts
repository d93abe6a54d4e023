/** Averages over episodes: the one place that says which episodes count, and what is counted of each. */
import { episodeLeft } from '../protocol/outcome.ts';
import type { Rewards } from '../protocol/reward.ts';
import type { ModelUsage } from '../protocol/tool.ts';
import type { Trajectory } from '../protocol/trajectory.ts';
import { addTurnUsage, type TurnUsage } from '../protocol/turn-usage.ts';
import { addUsage, toolUsage } from './tool-usage.ts';
import { turnUsage } from './turn-usage.ts';

/** What the averages need of a trajectory, which then need not be kept. */
export interface EpisodeSummary {
  /** Place in the rollout's plan. */
  index: number;
  /** Code of the infrastructure fault that ended the episode; absent if none did. */
  fault?: string;
  /** Message of that fault. */
  cause?: string;
  /** How it ended: `terminated:answered`, `truncated:max_turns`. */
  end: string;
  /** `null` for an aborted episode, and for one that nothing scored. */
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
  /** What its tools have asked of models; absent if nothing. */
  toolUsage?: ModelUsage;
  /** What its turns have asked of a model on a server; absent if nothing. */
  turnUsage?: TurnUsage;
}

/** What the averages need of a trajectory. */
export function summariseEpisode({ index, outcome, reward, rewards, steps }: Trajectory): EpisodeSummary {
  const calls = steps.flatMap((step) => step.calls);
  const usage = toolUsage([{ steps }]);
  const asked = turnUsage([{ steps }]);
  return {
    index,
    ...(outcome.kind === 'aborted' && { fault: outcome.cause.code, cause: outcome.cause.message }),
    end: 'reason' in outcome ? `${outcome.kind}:${outcome.reason}` : outcome.kind,
    reward,
    rewards,
    turns: steps.length,
    calls: calls.length,
    mistakes: calls.filter(({ mistake }) => mistake !== undefined).length,
    failures: calls.filter(({ mistake, result }) => mistake !== undefined || result?.isError === true).length,
    tokens: steps.reduce((sum, { action }) => sum + (action.tokens?.action.length ?? 0), 0),
    ...(usage && { toolUsage: usage }),
    ...(asked && { turnUsage: asked }),
  };
}

/** Number of different causes that are counted. */
const maxCauses = 1000;

/** Running means over the episodes that were not aborted, in constant memory. A mean is `null` before the first of them. */
export class EpisodeStatistics {
  /** Episodes that ended by themselves or were truncated. */
  episodes = 0;
  /** Of these, episodes that nothing scored. They enter the means of turns and calls, and no mean of a reward. */
  unscored = 0;
  /** Episodes that an infrastructure fault ended. Like unfinished episodes, they enter no mean. */
  aborted = 0;
  /** Episodes that their player left before the end. */
  unfinished = 0;
  /** Tokens that the policy generated in all episodes, aborted episodes included. */
  generatedTokens = 0;
  /** What the tools of all episodes have asked of models; `undefined` if nothing. */
  toolUsage: ModelUsage | undefined;
  /** What the turns of all episodes have asked of a model on a server; `undefined` if nothing. */
  turnUsage: TurnUsage | undefined;
  /** Episodes by how they ended, without the aborted ones. */
  readonly outcomes: Record<string, number> = {};
  /** Episodes without a score by the code of their fault. */
  readonly faults: Record<string, number> = {};
  /** Mean of each reward component over the episodes that scored it. */
  readonly rewards: Record<string, number> = {};
  /** Mean weighted reward over the scored episodes. */
  reward: number | null = null;
  /** Mean number of the policy's turns. */
  turns: number | null = null;
  /** Mean number of tool calls, mistaken calls included. */
  calls: number | null = null;
  /** Mean number of calls that were mistakes of the model. */
  mistakes: number | null = null;
  /** Mean number of calls that were mistakes, or that the tool answered with `isError`. */
  failures: number | null = null;
  /** Mean number of tokens that the policy generated. */
  tokens: number | null = null;
  /** Mean wall-clock time, over the episodes whose time is known. */
  seconds: number | null = null;
  readonly #causes: Map<string, number> = new Map();
  readonly #sums: Map<string, { sum: number; count: number }> = new Map();

  /** @param seconds Wall-clock time of the episode, if it was measured. */
  add(episode: EpisodeSummary, seconds?: number): void {
    const { fault, cause, end, rewards, reward, turns, calls, mistakes, failures, tokens } = episode;
    this.generatedTokens += tokens;
    this.toolUsage = addUsage(this.toolUsage, episode.toolUsage);
    this.turnUsage = addTurnUsage(this.turnUsage, episode.turnUsage);
    if (fault !== undefined) {
      this.faults[fault] = (this.faults[fault] ?? 0) + 1;
      const named = `${fault}: ${cause}`;
      const count = this.#causes.get(named);
      if (count !== undefined || this.#causes.size < maxCauses) this.#causes.set(named, (count ?? 0) + 1);
      if (fault === episodeLeft) this.unfinished += 1;
      else this.aborted += 1;
      return;
    }
    this.episodes += 1;
    if (reward === null) this.unscored += 1;
    this.outcomes[end] = (this.outcomes[end] ?? 0) + 1;
    for (const [name, value] of Object.entries(rewards)) {
      if (value !== null) this.rewards[name] = this.#mean(`rewards/${name}`, value);
    }
    if (reward !== null) this.reward = this.#mean('reward', reward);
    const numbers = { turns, calls, mistakes, failures, tokens, ...(seconds !== undefined && { seconds }) };
    for (const [name, value] of Object.entries(numbers)) {
      this[name as keyof typeof numbers] = this.#mean(name, value);
    }
  }

  /**
   * Episodes without a score by their cause, the most frequent first: `infrastructure.tool_failed: Tool "f" failed: …`. Of many
   * causes, the first 1,000.
   */
  get causes(): Record<string, number> {
    return Object.fromEntries([...this.#causes].sort(([, a], [, b]) => b - a));
  }

  /** The mean of a number, with one more value. */
  #mean(name: string, value: number): number {
    const { sum, count } = this.#sums.get(name) ?? { sum: 0, count: 0 };
    this.#sums.set(name, { sum: sum + value, count: count + 1 });
    return (sum + value) / (count + 1);
  }
}
