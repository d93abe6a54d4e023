/** Scorer: scores the episodes of a group after they have ended, compared with one another. A trainer adds its score to the reward. */
import type { ModelUsage } from '../protocol/tool.ts';
import type { Trajectory } from '../protocol/trajectory.ts';
import type { TrainerPart } from './trainer.ts';

/** The run that a scorer is opened for. */
export interface ScoringRun {
  /** Existing folder of the run, where a scorer may keep what a resumed run must find again. */
  folder: string;
  seed: number;
  /** Aborts when the run is stopped. */
  signal?: AbortSignal | undefined;
}

/** What a scorer says of an episode. */
export interface ScoredEpisode {
  /** In the range of the scorer, or `null` for "not scored". */
  value: number | null;
  /** Why, for people who look at the episode. */
  text?: string;
  /** What the scorer has asked of a model. An asked group is counted at one of its episodes. */
  usage?: ModelUsage;
}

/** A scorer that is open for a run. */
export interface OpenScorer {
  /**
   * Called once for each group, for several groups at once. Equal groups get equal scores, so that a resumed run repeats them.
   * @param episodes Scored episodes of one task, by sample. Aborted episodes are not among them.
   * @returns What it says of each, in this order.
   * @throws ToolEnvError `infrastructure.*` if machinery failed: the episodes are then aborted.
   */
  score(
    episodes: readonly Trajectory[],
    options: { signal?: AbortSignal | undefined },
  ): Promise<readonly ScoredEpisode[]>;
  close?(): Promise<void>;
}

/** A scorer that a package publishes. */
export interface Scorer<Options = Record<string, unknown>> extends TrainerPart {
  /** `<name>-v<N>`. The component of the reward has the name without the version. */
  readonly name: string;
  /** Smallest and largest score. Default [0, 1]. */
  readonly range?: readonly [low: number, high: number];
  /** Options with which it scores without a server, for `toolenv check`. */
  readonly example: { readonly options: Readonly<Record<string, unknown>> };
  /** @throws ToolEnvError `usage.*` if the run lacks something that the scorer needs. */
  begin(run: ScoringRun, options: Options): Promise<OpenScorer>;
}

/** Types the options of a scorer. Returns its argument. */
export function defineScorer<Options>(scorer: Scorer<Options>): Scorer<Options> {
  return scorer;
}
