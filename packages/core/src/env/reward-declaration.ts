/** How an environment declares its rewards: kind, weight, range, and optionally a function that scores. */
import { unknownPart } from '../protocol/did-you-mean.ts';
import { messageOf, ToolEnvError } from '../protocol/errors.ts';
import { checkRewardSpec, type RewardComponent, type RewardSpec } from '../protocol/reward.ts';
import type { EpisodeContext } from './episode.ts';
import type { ScoreByTool } from './score-by-tool.ts';

/** A component of the reward, as an environment declares it. */
export interface RewardDeclaration<Context = EpisodeContext> {
  /** `process`: any turn may earn it. `outcome`: it is scored once, at the end. */
  readonly kind: RewardComponent['kind'];
  /** Weight in the scalar reward. 0: reported, but not trained on. Default 1, or 0 for a monitor. */
  readonly weight?: number;
  /**
   * Counts what should not happen: a trick that earns the reward, a forbidden call. It is reported and never trained on, and a run says if it
   * rises with the reward. Default false.
   */
  readonly monitor?: boolean;
  /** Smallest and largest value. Default [0, 1]. */
  readonly range?: readonly [low: number, high: number];
  /**
   * The value where no hook gave it, or `null` for "not scored". An outcome reward is scored once, when the episode ends by
   * itself or the environment truncates it; a process reward after each turn. A score may ask a tool, as `judge` of `@toolenv/judge` does.
   */
  score?: Score<Context> | ScoreByTool<Context>;
}

/** A function of the episode that scores. It is async if it asks a database, or a judge of its own. */
export type Score<Context> = (context: Context) => number | null | Promise<number | null>;

/** What scoring needs of a reward, once its environment is open. */
export interface ScoredReward<Context> {
  readonly kind: RewardComponent['kind'];
  readonly score?: Score<Context> | undefined;
}

const parts = ['kind', 'weight', 'monitor', 'range', 'score'];

/**
 * The declarations with their defaults and without their functions, as trajectories hold them.
 * @param env Names the environment in errors.
 * @throws ToolEnvError `bug.environment` for an unknown part, or a kind, range or weight that cannot be (ENV-4).
 */
export function rewardSpecOf(
  env: string,
  rewards: Readonly<Record<string, RewardDeclaration<never>>>,
): RewardSpec {
  const components = Object.entries(rewards).map(([name, declared]) => {
    const unknown = unknownPart(Object(declared), parts);
    if (unknown) throw new ToolEnvError('bug.environment', `${env}: reward "${name}" has ${unknown}`);
    try {
      const {
        kind,
        range = [0, 1],
        monitor = false,
        weight = monitor ? 0 : 1,
      } = Object(declared) as RewardDeclaration<never>;
      return [name, { kind, range, weight, ...(monitor && { monitor }) }];
    } catch (error) {
      const message = `${env}: reward "${name}" cannot be read (${messageOf(error)}): give its parts as plain values.`;
      throw new ToolEnvError('bug.environment', message, { cause: error });
    }
  });
  return soundRewards(env, Object.fromEntries(components));
}

/**
 * The spec as it was given.
 * @param owner Names in errors who declares it.
 * @throws ToolEnvError `bug.environment` for a kind, range or weight that cannot be (ENV-4).
 */
export function soundRewards(owner: string, spec: RewardSpec): RewardSpec {
  const wrong = checkRewardSpec(spec);
  if (wrong) throw new ToolEnvError('bug.environment', `${owner} breaks ${wrong.rule}: ${wrong.problem}.`);
  return spec;
}
