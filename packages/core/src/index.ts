/** @toolenv/core: the toolenv standard, and the loop that runs it. */
export { defineToolEnv, type OnlyParts, type ToolEnvDefinition } from './env/define-tool-env.ts';
export type * from './env/env-definition.ts';
export { defineEnv, maxConcurrency } from './env/env-definition.ts';
export type * from './env/episode.ts';
export type * from './env/player.ts';
export type * from './env/player-declaration.ts';
export type { RewardDeclaration, Score } from './env/reward-declaration.ts';
export type { ScoreByTool } from './env/score-by-tool.ts';
export { type Script, type Scripted, scriptedPolicy } from './env/scripted-policy.ts';
export { drawInEpochs, type TaskDraw, type TaskDrawing, type TaskResult } from './env/task-draw.ts';
export { type GivenTasks, type TaskSource, type TaskSources, taskSet, taskSets } from './env/task-source.ts';
export { type OpenEnvSettings, type OpenedEnv, openEnv } from './plugins/open-env.ts';
export { defineToolPlugin, type ToolPlugin } from './plugins/tool-plugin.ts';
export {
  type Action,
  type ActionTokens,
  isParseFailure,
  type ParseFailure,
  parsedCalls,
  turnMessage,
} from './protocol/action.ts';
export type { EncodedRow, PlainText } from './protocol/encoding.ts';
export type * from './protocol/env.ts';
export {
  asClause,
  type ErrorCode,
  isBug,
  isInfrastructure,
  messageOf,
  ToolEnvError,
} from './protocol/errors.ts';
export { excerpt } from './protocol/excerpt.ts';
export type * from './protocol/message.ts';
export { imagesOf } from './protocol/message.ts';
export type * from './protocol/outcome.ts';
export { aborted, running, terminated, truncated } from './protocol/outcome.ts';
export {
  type Policy,
  type PolicySpec,
  type RunSampling,
  type SamplingOptions,
  samplingMistake,
} from './protocol/policy.ts';
export { type Prompts, replacePrompts } from './protocol/prompts.ts';
export type * from './protocol/reward.ts';
export { rewardTolerance, sumRewards, weigh } from './protocol/reward.ts';
export { createRng, deriveSeed, type Rng } from './protocol/rng.ts';
export type * from './protocol/sandbox.ts';
export type * from './protocol/tool.ts';
export { failure, refuse, text } from './protocol/tool.ts';
export type * from './protocol/trajectory.ts';
export type { TurnUsage } from './protocol/turn-usage.ts';
export { EpisodeStatistics, type EpisodeSummary, summariseEpisode } from './rollout/episode-statistics.ts';
export { finishTrajectory, type PlayedEpisode } from './rollout/finish-trajectory.ts';
export type { OnImages } from './rollout/fit-images.ts';
export { type PlayTaskOptions, playTask } from './rollout/play-task.ts';
export {
  collect,
  type EpisodeRequest,
  type OnBug,
  type OnDeadline,
  type RolloutOptions,
  rollout,
} from './rollout/rollout.ts';
export { toolUsage } from './rollout/tool-usage.ts';
export { turnUsage } from './rollout/turn-usage.ts';
// From the entry, so that declarations of programs can name the helper types of `@toolenv/core/schemas`.
export type { JsonSchema } from './schemas/index.ts';
export { defineTool, type Execute, type ToolDefinition } from './tools/define-tool.ts';
