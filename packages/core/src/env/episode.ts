/** An episode as an author writes it: how it begins, and what tool results and answers mean. */
import type { EnvLimits, ToolCallRecord } from '../protocol/env.ts';
import type { Message } from '../protocol/message.ts';
import type { ScoredOutcome } from '../protocol/outcome.ts';
import type { Rng } from '../protocol/rng.ts';
import type { Tool, ToolResult } from '../protocol/tool.ts';
import type { Player } from './player.ts';

/** What hooks and reward functions know: the episode as it is at the moment. */
export interface EpisodeContext<
  Task = unknown,
  State = unknown,
  Shared = unknown,
  Options = unknown,
  Text extends string = string,
  Other extends string = string,
> {
  readonly task: Task;
  /** What the definition's `state` made for this episode; `undefined` without it. */
  readonly state: State;
  /** What the definition's `setup` made for all episodes; `undefined` without it. */
  readonly shared: Shared;
  readonly options: Options;
  /** The limits of this run. */
  readonly limits: EnvLimits;
  /** The id of the episode, with a number if another episode of this process that runs has the same. */
  readonly episodeId: string;
  /** Seeded by the episode. */
  readonly rng: Rng;
  /** Aborted when the reset or the step that runs now is cancelled. Pass it to everything that waits. */
  readonly signal: AbortSignal;
  /**
   * The conversation so far, with the policy's turn and its tools' results. Empty while the episode begins. Its messages are frozen:
   * return `rewrite` to change them.
   */
  readonly conversation: readonly Message[];
  /** Turns that the policy has taken: 0 while the episode begins, 1 in the first hook. */
  readonly turn: number;
  /** The text of the turn, if it called no tool and was not cut off. */
  readonly answer: string | undefined;
  /** The calls of the turn. */
  readonly turnCalls: readonly ToolCallRecord[];
  /** All calls of the policy so far. */
  readonly calls: readonly ToolCallRecord[];
  /** `running` in the hooks. Reward functions see how the turn has ended. */
  readonly outcome: ScoredOutcome;
  /**
   * Uses a tool as the environment itself, to set up a database or to read its final state. The policy does not see the
   * call. Trajectories keep it apart from the policy's calls, as `environmentCalls`.
   * @param tool A tool, or the name of one of the episode's `tools` or `environmentTools`.
   * @returns The call with its whole text. A result with `isError` is returned too.
   * @throws ToolEnvError `infrastructure.*` as the policy's calls do, which aborts the episode; `bug.environment_call` for
   *   an unknown tool, and for arguments that its schema or the tool itself refuses.
   */
  call(tool: Tool | string, args?: Record<string, unknown>): Promise<EnvironmentCall>;
  /**
   * An open text that the environment declares in `prompts`, as this episode has it.
   * @throws ToolEnvError `bug.environment` for a name that is not declared.
   */
  prompt(name: Text): string;
  /**
   * A player that the environment declares in `players`.
   * @throws ToolEnvError `bug.environment` for a name that is not declared.
   */
  player(name: Other): Player;
}

/** A call that the environment made. It is never mistaken, so that it has a result. */
export interface EnvironmentCall extends ToolCallRecord {
  result: ToolResult;
}

/** What a hook makes of a turn. A text replies as the user. `undefined` continues the episode. */
export type TurnResult<Reward extends string = string, Other extends string = string> =
  | string
  | TurnDecision<Reward, Other>
  | undefined;

/** What a hook decides about a turn. Everything may be left out. */
export interface TurnDecision<Reward extends string = string, Other extends string = string> {
  /** Appended to the conversation; a text as a message of the user. */
  reply?: string | readonly Message[];
  /** Replaces the whole conversation, in order to shorten or rewrite it. A reply is appended to it. */
  rewrite?: readonly Message[];
  /** Values of declared rewards. `null` is "not scored", which is not 0. */
  rewards?: { readonly [Name in Reward]?: number | null };
  /**
   * The same for players, by name: `{ opponent: { won: 1 } }`. They count where the policy in training plays the player; where somebody
   * else does, they are left out.
   */
  playerRewards?: { readonly [Player in Other]?: { readonly [Name in Reward]?: number | null } };
  /** Ends the episode and says why, in a word: `answered`. */
  end?: string;
  /** JSON values for the trajectory. */
  info?: Record<string, unknown>;
}

/** One episode. Its state may live in the closure that makes it. */
export interface Episode<Reward extends string = string, Other extends string = string> {
  /** How the conversation begins; a text is a message of the user. */
  messages: string | readonly Message[];
  /** The tools that the policy may call next. Default: none. */
  tools?: readonly Tool[] | (() => readonly Tool[]);
  /** Further tools that `call` finds by name. The policy neither sees nor reaches them. */
  environmentTools?: readonly Tool[] | (() => readonly Tool[]);
  /** Called after a turn's tool calls, with their results. Default: the episode continues. */
  onToolResults?(
    calls: readonly ToolCallRecord[],
    context: EpisodeContext,
  ): TurnResult<Reward, Other> | Promise<TurnResult<Reward, Other>>;
  /**
   * Called after a turn without tool calls, whose text is the answer. It must reply, rewrite the conversation or end the
   * episode. Default: ends the episode as `answered`.
   */
  onAnswer?(
    answer: string,
    context: EpisodeContext,
  ): TurnResult<Reward, Other> | Promise<TurnResult<Reward, Other>>;
  /** Releases what the episode holds. Called once, also after a fault. */
  close?(): void | Promise<void>;
}
