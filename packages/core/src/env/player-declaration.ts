/** A player beside the policy: a user, an opponent, a critic. It is played by a script, by a policy, or by the policy in training itself. */
import type { Observation } from '../protocol/message.ts';
import type { EpisodeContext } from './episode.ts';
import type { Scripted } from './scripted-policy.ts';

/** A player, as an environment declares it. Who plays is an option of the environment, with the player's name. */
export interface PlayerDeclaration<Context = EpisodeContext> {
  readonly description: string;
  /**
   * Who plays unless the user chooses: `self`, a name in `scripts`, or the name of a policy, such as `openai:<url>#<model>`. Default
   * `self`: the policy that plays the episode, which then learns from this player's turns too.
   */
  readonly play?: string;
  /** Players without a model, by name. */
  readonly scripts?: Readonly<Record<string, PlayerScript<Context>>>;
  /** Most tokens of a turn of a policy that is named. Default 256. A policy that plays itself uses the sampling of its own turns. */
  readonly maxTokens?: number;
  /** Sampling temperature of a policy that is named. Default 1. */
  readonly temperature?: number;
}

/** Decides a turn of a player from what the episode knows, and from what the player sees. */
export type PlayerScript<Context> = (context: Context, seen: Observation) => Scripted | Promise<Scripted>;
