/** @toolenv/core: the toolenv standard, and the loop that runs it. */
export { type CheckpointState, checkpointSteps, resumeCheckpoint, saveCheckpoint } from './checkpoints.ts';

export { Deadline, type DeadlineOptions } from './deadline.ts';
export {
  type ArgumentsSchema,
  defineTool,
  type ParsedArguments,
  type SentArguments,
  type ToolDefinition,
} from './define-tool.ts';
export { type DispatchOptions, dispatch } from './dispatch.ts';
export { drawEpisodes } from './draw-episodes.ts';
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
  type EnvCapabilities,
  type EnvDefinition,
  type OpenEnv,
  type OpenOptions,
  type Split,
  type TaskSet,
  type ToolFactory,
} from './env-definition.ts';
export { type ErrorCode, isInfrastructure, messageOf, ToolEnvError } from './errors.ts';
export { type EvaluateOptions, type Evaluation, evaluate } from './evaluate.ts';
export { type GeneralizedAdvantages, generalizedAdvantages } from './generalized-advantage.ts';
export { type JsonSchema, type SchemaMistake, validate, validateWithDefaults } from './json-schema.ts';
export type { FromJsonSchema } from './json-schema-type.ts';
export type {
  AdamW,
  CriticOptions,
  Learner,
  Rows,
  TokenBatch,
  TokenGradients,
  TokenOutputs,
  TokenRow,
  TokenValues,
} from './learner.ts';
export { type Manifest, type PluginKind, pluginKinds } from './manifest.ts';
export { meanMetrics } from './mean-metrics.ts';
export type { ContentBlock, EmbeddedResource, Message, ToolCall, ToolDescription } from './message.ts';
export { miniBatchesOf } from './mini-batches.ts';
export { type MixedTask, mixEnvs } from './mix-envs.ts';
export { nearest } from './nearest.ts';
export { type OpenEnvOptions, openEnv } from './open-env.ts';
export { optimizerStep } from './optimizer-step.ts';
export { completeOptions } from './options.ts';
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
export { type Ahead, playAhead } from './play-ahead.ts';
export {
  findPlugin,
  type LoadedPlugin,
  listPlugins,
  loadPlugin,
  type PluginInfo,
  type PluginTypes,
} from './plugin.ts';
export {
  type Action,
  type ActionTokens,
  isParseFailure,
  type ParseFailure,
  type Policy,
  type PolicySpec,
  type SamplingOptions,
} from './policy.ts';
export { definePolicy, type OpenPolicy, type PolicyDefinition } from './policy-definition.ts';
export { normalisedRewards } from './process-rewards.ts';
export { type RecordOptions, recordTools } from './record-tools.ts';
export type { RedactionRules } from './redact.ts';
export { parseReference, type Reference } from './reference.ts';
export { type Replay, replayTools } from './replay-tools.ts';
export { responseMask } from './response-mask.ts';
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
export { collect, type EpisodeRequest, type RolloutOptions, rollout } from './rollout.ts';
export { rolloutMetrics } from './rollout-metrics.ts';
export { type Script, type Scripted, scriptedPolicy } from './scripted-policy.ts';
export { refuse, type Tool, type ToolAnnotations, type ToolContext, type ToolResult, text } from './tool.ts';
export { type InitialContext, type Meaning, type Start, ToolEnv } from './tool-env.ts';
export { defineTrainer, type Metrics, type Run, type TrainEvent, type Trainer } from './trainer.ts';
export { type TrainingRow, toTrainingRows } from './training-row.ts';
export type { Trajectory, TrajectoryStep } from './trajectory.ts';
export {
  appendTrajectory,
  decodeTrajectory,
  encodeTrajectory,
  readTrajectories,
} from './trajectory-jsonl.ts';
export { Turns } from './turns.ts';
export { validationScores } from './validation-scores.ts';
export { whiten } from './whiten.ts';
export { EpisodeStatistics, recordEpisodeStatistics } from './wrappers/episode-statistics.ts';
export { recordEpisodes } from './wrappers/record-episodes.ts';
export { type TimeLimit, timeLimit } from './wrappers/time-limit.ts';
export { transformObservation } from './wrappers/transform-observation.ts';
export { type RewardTransform, type ScoredTransition, transformReward } from './wrappers/transform-reward.ts';
export { truncateHistory } from './wrappers/truncate-history.ts';
export { type OnEpisode, watchEpisodes } from './wrappers/watch-episodes.ts';
export { type ObservationWindow, windowObservation } from './wrappers/window-observation.ts';
export type { Wrappable, Wrapped } from './wrappers/wrap.ts';
