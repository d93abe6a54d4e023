/** Env: the public interface of an environment, Gym's reset/step/close for conversations. */
import type { Action, ParseFailure } from './action.ts';
import type { Observation, ToolCall } from './message.ts';
import type { AbortedOutcome, ScoredOutcome } from './outcome.ts';
import type { Prompts } from './prompts.ts';
import type { RewardSpec, Rewards } from './reward.ts';
import type { CallProgress, Tool, ToolResult } from './tool.ts';

/** What is wrong with a call, in words that help the model to correct it. */
export interface ModelMistake {
  code: 'malformed_call' | 'unknown_tool' | 'invalid_arguments' | 'too_many_calls';
  /** JSON Pointer to the wrong part of the call; empty for the whole call. */
  path: string;
  expected: string;
  received: string;
  hint: string;
}

/** One call of a step: the request, its result, and the time that it took. */
export interface ToolCallRecord {
  call: ToolCall | ParseFailure;
  /** The tool's own result; absent if the call was a mistake. */
  result?: ToolResult;
  /** Set if the result was too long to keep: length and digest of its JSON. `result.content` is then empty. */
  cut?: { characters: number; sha256: string };
  mistake?: ModelMistake;
  /** What the model reads, limited in length. */
  text: string;
  milliseconds: number;
}

interface TransitionBase {
  observation: Observation;
  calls: ToolCallRecord[];
  /** Calls that the environment itself made since the last transition. */
  environmentCalls?: ToolCallRecord[];
  info: Record<string, unknown>;
  /** Whether to learn from the action. Default true. False for an answer that reached nobody, or of a player who is not trained. */
  learn?: boolean;
}

/** The result of a step that may be scored. */
export type ScoredTransition = TransitionBase & {
  outcome: ScoredOutcome;
  /** Of the first player. */
  rewards: Rewards;
  /** Of the others that the policy plays too (`EnvSpec.players`), by name. */
  playerRewards?: Readonly<Record<string, Rewards>>;
};

/** A step's result. The type forbids a reward on an aborted episode. */
export type Transition =
  | ScoredTransition
  | (TransitionBase & { outcome: AbortedOutcome; rewards?: undefined; playerRewards?: undefined });

/** What an environment declares before its first episode. */
export interface EnvSpec {
  readonly specVersion: 'v1';
  /** `<package>/<name>-v<N>` once resolved as a plugin, else the bare name. */
  readonly name: string;
  readonly rewards: RewardSpec;
  readonly limits: EnvLimits;
  /**
   * Players of the episode that the policy plays too, besides the first. Each has a conversation of its name
   * (`Observation.conversation`) and rewards of its own, with the same components.
   */
  readonly players?: readonly string[];
}

/** Where an episode or a call of it is cut short. */
export interface EnvLimits {
  /** Policy turns before the episode is truncated. */
  maxTurns: number;
  /** Tool calls executed in one turn; further calls are answered with a mistake. */
  maxCallsPerTurn: number;
  /** Milliseconds a tool call may take. A tool may have a smaller limit of its own. */
  toolTimeout: number;
  /** Characters of a tool's text that reach the model. */
  maxToolCharacters: number;
}

/** How an episode begins. */
export interface ResetOptions<Task = unknown> {
  task: Task;
  seed: number;
  episodeId?: string;
  /** Texts of this episode in place of the environment's open texts, by name. An environment ignores names that it does not declare. */
  prompts?: Prompts;
  signal?: AbortSignal;
}

/** Options of a step. */
export interface StepOptions {
  signal?: AbortSignal;
  /** Called with what tools say of the progress of the policy's calls. What it throws ends the step. */
  onProgress?(report: CallProgress): void;
}

/** Runs one episode at a time. Use one Env per concurrent episode. */
export interface Env<Task = unknown> {
  readonly spec: EnvSpec;
  /** Begins an episode, and returns what the policy sees first. In the middle of an episode, it begins another. */
  reset(options: ResetOptions<Task>): Promise<Observation>;
  /** Parses and runs the calls of an action, and decides what they mean. */
  step(action: Action, options?: StepOptions): Promise<Transition>;
  /** Ends the episode. May be called more than once. */
  close(): Promise<void>;
  /** The tools on offer, for servers that pass on what the policy does not see of them, such as annotations. */
  tools?(): readonly Tool[];
}
