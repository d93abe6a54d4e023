/** recordEpisodeStatistics: running means over the episodes so far. Gymnasium's RecordEpisodeStatistics. */
import type { Trajectory } from '../protocol/trajectory.ts';
import { episodeLeft, watchEpisodes } from './watch-episodes.ts';
import type { Wrappable, Wrapped } from './wrap.ts';

/** Running means, to be read at any time. Aborted episodes and unfinished ones are counted, and no mean has them. */
export class EpisodeStatistics {
  #episodes = 0;
  #aborted = 0;
  #unfinished = 0;
  readonly #means = new Map<string, Mean>();
  readonly #rewards = new Map<string, Mean>();

  /** Episodes that ended by themselves or were truncated by their environment. */
  get episodes(): number {
    return this.#episodes;
  }

  get aborted(): number {
    return this.#aborted;
  }

  get unfinished(): number {
    return this.#unfinished;
  }

  /** Mean weighted reward; `null` before the first episode. */
  get reward(): number | null {
    return this.#mean('reward');
  }

  /** Mean of each component over the episodes that scored it. */
  get rewards(): Record<string, number> {
    return Object.fromEntries([...this.#rewards].map(([name, { value }]) => [name, value]));
  }

  /** Mean length in turns of the policy; `null` before the first episode. */
  get turns(): number | null {
    return this.#mean('turns');
  }

  /** Mean number of tool calls; `null` before the first episode. */
  get calls(): number | null {
    return this.#mean('calls');
  }

  /** Mean number of calls that were mistakes; `null` before the first episode. */
  get mistakes(): number | null {
    return this.#mean('mistakes');
  }

  /** Mean wall-clock time; `null` before the first episode. */
  get seconds(): number | null {
    return this.#mean('seconds');
  }

  add({ outcome, reward, rewards, steps }: Trajectory, seconds: number): void {
    if (outcome.kind === 'aborted') {
      if (outcome.cause.code === episodeLeft) this.#unfinished += 1;
      else this.#aborted += 1;
      return;
    }
    this.#episodes += 1;
    const calls = steps.flatMap((step) => step.calls);
    const mistakes = calls.filter(({ mistake }) => mistake !== undefined).length;
    const numbers = { reward: reward ?? 0, turns: steps.length, calls: calls.length, mistakes, seconds };
    for (const [name, value] of Object.entries(numbers)) addTo(this.#means, name, value);
    for (const [name, value] of Object.entries(rewards)) {
      if (value !== null) addTo(this.#rewards, name, value);
    }
  }

  #mean(name: string): number | null {
    return this.#means.get(name)?.value ?? null;
  }
}

/** The environment, whose episodes count into `statistics`. */
export function recordEpisodeStatistics<Inner extends Wrappable>(
  env: Inner,
  statistics: EpisodeStatistics,
): Wrapped<Inner> {
  return watchEpisodes(env, (trajectory, seconds) => statistics.add(trajectory, seconds));
}

interface Mean {
  value: number;
  count: number;
}

function addTo(means: Map<string, Mean>, name: string, value: number): void {
  const mean = means.get(name) ?? { value: 0, count: 0 };
  mean.count += 1;
  mean.value += (value - mean.value) / mean.count;
  means.set(name, mean);
}
