/** GroupScorer: adds the score of a scorer to the episodes of each group, as a component of their reward. */
import {
  aborted,
  finishTrajectory,
  type RewardSpec,
  rewardTolerance,
  type ToolCallRecord,
  ToolEnvError,
  type Trajectory,
  type TrajectoryStep,
} from '@toolenv/core';
import { networkFault } from '@toolenv/core/env';
import type { OpenScorer, Run, ScoredEpisode, Scorer } from '@toolenv/core/plugins';
import { groupBy } from '../rows/averages.ts';
import type { RunOptions } from '../trainer/run-options.ts';
import type { AbortWatch } from './abort-watch.ts';

type Weights = Pick<RunOptions, 'scorerWeight' | 'environmentWeight'>;

export class GroupScorer {
  readonly #component: string;
  readonly #range: readonly [low: number, high: number];
  readonly #weights: Weights;
  readonly #open: OpenScorer;

  private constructor({ name, range = [0, 1] }: Scorer, weights: Weights, open: OpenScorer) {
    // `ruler` for `ruler-v1`.
    this.#component = name.replace(/-v\d+$/, '');
    this.#range = range;
    this.#weights = weights;
    this.#open = open;
  }

  /** @throws What the scorer throws as it begins. */
  static async begin(
    scorer: Scorer,
    { out, seed, signal }: Pick<Run, 'out' | 'seed' | 'signal'>,
    options: RunOptions & Record<string, unknown>,
  ): Promise<GroupScorer> {
    const own = Object.keys((scorer.options.properties ?? {}) as object);
    const given = Object.fromEntries(own.map((option) => [option, options[option]]));
    return new GroupScorer(scorer, options, await scorer.begin({ folder: out, seed, signal }, given));
  }

  /**
   * The trajectories with the component. Episodes that were aborted, or that ended before their first turn, are not scored. If a group
   * cannot be scored because machinery failed, its episodes are aborted, and the watch sees them.
   * @throws ToolEnvError `bug.scorer` for scores that are not those of the episodes; what else the scorer throws.
   */
  async score(
    trajectories: readonly Trajectory[],
    { watch, signal }: { watch: AbortWatch; signal: AbortSignal | undefined },
  ): Promise<Trajectory[]> {
    const scored = trajectories.filter(
      ({ outcome, steps }) => outcome.kind !== 'aborted' && steps.length > 0,
    );
    const said = new Map<Trajectory, ScoredEpisode | ToolEnvError>();
    const groups = [...groupBy(scored, ({ group }) => group).values()];
    await Promise.all(
      groups.map(async (group) => {
        const episodes = group.toSorted((a, b) => a.sample - b.sample);
        const scores = await this.#ask(episodes, signal);
        for (const [n, episode] of episodes.entries())
          said.set(episode, Array.isArray(scores) ? scores[n]! : scores);
      }),
    );
    return trajectories.map((trajectory) => {
      const verdict = said.get(trajectory);
      const result = this.#with(trajectory, verdict);
      if (ToolEnvError.isInstance(verdict)) watch.add(result.outcome);
      return result;
    });
  }

  async close(): Promise<void> {
    await this.#open.close?.();
  }

  async #ask(
    episodes: readonly Trajectory[],
    signal: AbortSignal | undefined,
  ): Promise<readonly ScoredEpisode[] | ToolEnvError> {
    try {
      const scores = await this.#open.score(episodes, { signal });
      this.#check(scores, episodes.length);
      return scores;
    } catch (error) {
      const fault = signal?.aborted ? undefined : networkFault(error);
      if (!fault) throw error;
      return fault;
    }
  }

  #check(scores: readonly ScoredEpisode[], count: number): void {
    const [low, high] = this.#range;
    const isFit = ({ value }: ScoredEpisode) =>
      value === null ||
      (Number.isFinite(value) && value >= low - rewardTolerance && value <= high + rewardTolerance);
    const problem =
      !Array.isArray(scores) || scores.length !== count
        ? `it must return one score for each of the ${count} episodes`
        : scores.every((score) => isFit(Object(score)))
          ? undefined
          : `it must return numbers from ${low} to ${high}, or null`;
    if (problem) throw new ToolEnvError('bug.scorer', `The scorer ${this.#component}: ${problem}.`);
  }

  #with(trajectory: Trajectory, said: ScoredEpisode | ToolEnvError | undefined): Trajectory {
    const rewardSpec = this.#spec(trajectory.rewardSpec);
    const { version: _, outcome, rewards: __, reward: ___, players = {}, ...episode } = trajectory;
    const others = Object.keys(players);
    if (said === undefined) return finishTrajectory({ ...episode, rewardSpec }, outcome, others);
    const steps = [...episode.steps];
    const last = steps.pop()!;
    if (ToolEnvError.isInstance(said)) {
      const { rewards: unscored, playerRewards: ofPlayers, ...step } = last;
      return finishTrajectory({ ...episode, rewardSpec, steps: [...steps, step] }, aborted(said), others);
    }
    // A truncated episode has a value in every outcome component.
    const value = said.value ?? (outcome.kind === 'truncated' ? 0 : null);
    const step: TrajectoryStep = {
      ...last,
      rewards: { ...last.rewards, [this.#component]: value },
      environmentCalls: [...(last.environmentCalls ?? []), this.#record(said)],
    };
    return finishTrajectory({ ...episode, rewardSpec, steps: [...steps, step] }, outcome, others);
  }

  /** What people see of the score. */
  #record({ value, text, usage }: ScoredEpisode): ToolCallRecord {
    const said = text === undefined ? String(value) : `${value}: ${text}`;
    const result = {
      content: [{ type: 'text', text: said }],
      structuredContent: { score: value },
      ...(usage && { usage }),
    };
    const call = { id: `scorer-${this.#component}`, name: this.#component, arguments: {} };
    return { call, result, text: said, milliseconds: 0 };
  }

  /** @throws ToolEnvError `usage.bad_option` if the environment has a component of this name. */
  #spec(own: RewardSpec): RewardSpec {
    const { scorerWeight, environmentWeight } = this.#weights;
    if (Object.hasOwn(own, this.#component)) {
      const message = `The environment has a reward "${this.#component}" of its own: give the scorer another name.`;
      throw new ToolEnvError('usage.bad_option', message);
    }
    const weighed = Object.entries(own).map(([name, component]) => [
      name,
      { ...component, weight: component.weight * environmentWeight },
    ]);
    return {
      ...Object.fromEntries(weighed),
      [this.#component]: { kind: 'outcome', range: this.#range, weight: scorerWeight },
    };
  }
}
