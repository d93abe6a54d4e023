/** @toolenv/core: the toolenv standard, and the loop that runs it. */
export { type DispatchOptions, dispatch } from './dispatch.ts';
export type {
  Env,
  EnvLimits,
  EnvSpec,
  ModelMistake,
  Observation,
  ToolCallRecord,
  Transition,
} from './env.ts';
export {
  defineEnv,
  type EnvDefinition,
  type OpenEnv,
  type OpenOptions,
  type Split,
  type TaskSet,
  type ToolFactory,
} from './env-definition.ts';
export { type ErrorCode, isInfrastructure, messageOf, ToolEnvError } from './errors.ts';
export { type JsonSchema, type SchemaMistake, validate, validateWithDefaults } from './json-schema.ts';
export type { AdamW, Learner, Rows, TokenBatch, TokenOutputs, TokenRow } from './learner.ts';
export type { ContentBlock, Message, ToolCall, ToolDescription } from './message.ts';
export { nearest } from './nearest.ts';
export {
  type AbortedOutcome,
  aborted,
  type Outcome,
  running,
  type ScoredOutcome,
  type TruncationReason,
  terminated,
  truncated,
} from './outcome.ts';
export {
  type Action,
  type ActionTokens,
  isParseFailure,
  type ParseFailure,
  type Policy,
  type PolicySpec,
  type SamplingOptions,
} from './policy.ts';
export {
  outcome,
  process,
  type RewardComponent,
  type RewardSpec,
  type Rewards,
  scoreTruncation,
  sumRewards,
  weigh,
} from './reward.ts';
export { createRng, deriveSeed, type Rng } from './rng.ts';
export {
  defineTool,
  type Tool,
  type ToolAnnotations,
  type ToolContext,
  type ToolResult,
  text,
} from './tool.ts';
export { type InitialContext, type Meaning, type Start, ToolEnv } from './tool-env.ts';
export type { Trajectory, TrajectoryStep } from './trajectory.ts';
