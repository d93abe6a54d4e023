/** Env: the public face of an environment, Gym's reset/step/close over conversations. */
import type { Action, ParseFailure } from './action.ts';
import type { Observation, ToolCall } from './message.ts';
import type { AbortedOutcome, ScoredOutcome } from './outcome.ts';
import type { RewardSpec, Rewards } from './reward.ts';
import type { ToolResult } from './tool.ts';

/** What the model did wrong in a call, told so that it can do better. */
export interface ModelMistake {
  code: 'malformed_call' | 'unknown_tool' | 'invalid_arguments' | 'too_many_calls';
  path: string;
  expected: string;
  received: string;
  hint: string;
}

/** One call of a step: what was asked, what came of it, and how long it took. */
export interface ToolCallRecord {
  call: ToolCall | ParseFailure;
  /** The tool's own answer; absent if the call was a mistake. */
  result?: ToolResult;
  /** Set if the answer was too long to keep: characters and digest of its JSON. `result` is then without content. */
  cut?: { characters: number; sha256: string };
  mistake?: ModelMistake;
  /** What the model reads, bounded in length. */
  text: string;
  milliseconds: number;
}

interface TransitionBase {
  observation: Observation;
  calls: ToolCallRecord[];
  info: Record<string, unknown>;
}

/** A step's result. The type forbids a reward on an aborted episode. */
export type Transition =
  | (TransitionBase & { outcome: ScoredOutcome; rewards: Rewards })
  | (TransitionBase & { outcome: AbortedOutcome; rewards?: undefined });

export interface EnvSpec {
  readonly specVersion: 'v1';
  /** `<package>/<name>-v<N>` once resolved as a plugin, else the bare name. */
  readonly name: string;
  readonly rewards: RewardSpec;
  readonly limits: EnvLimits;
}

export interface EnvLimits {
  /** Policy turns before the episode is truncated. */
  maxTurns: number;
  /** Tool calls executed in one turn; further ones are answered with a mistake. */
  maxCallsPerTurn: number;
  /** Milliseconds a tool call may take. */
  toolTimeout: number;
  /** Characters of a tool's text that reach the model. */
  maxToolCharacters: number;
}

/** One episode at a time; run many episodes with many Envs. */
export interface Env<Task = unknown> {
  readonly spec: EnvSpec;
  reset(options: {
    task: Task;
    seed: number;
    episodeId?: string;
    signal?: AbortSignal;
  }): Promise<Observation>;
  step(action: Action, options?: { signal?: AbortSignal }): Promise<Transition>;
  close(): Promise<void>;
}
