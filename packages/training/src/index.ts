/** @toolenv/training: the run loop of trainers, and the parts that algorithms are made of. */
export { advantages } from './advantages/advantages.ts';
export {
  type AdvantageDefinition,
  type AdvantageEstimator,
  type AdvantageInputs,
  advantageInputs,
  defineAdvantage,
  estimateAdvantages,
} from './advantages/define-advantage.ts';
export {
  type GeneralizedAdvantages,
  generalizedAdvantages,
  type TurnAdvantages,
  turnGeneralizedAdvantages,
} from './advantages/generalized-advantage.ts';
export { groupAdvantages, leaveOneOutAdvantages, type RewardScale } from './advantages/group-advantages.ts';
export { normalisedRewards } from './advantages/normalise-process-rewards.ts';
export {
  discountedReturns,
  reinforceAdvantages,
  reinforceBaselineAdvantages,
} from './advantages/reinforce-advantages.ts';
export { ofEpisodes, ofTurns, turnsOf } from './advantages/spread-advantages.ts';
export { turnAdvantages, turnReturns } from './advantages/turn-advantages.ts';
export { whiten } from './advantages/whiten.ts';
export type { Algorithm, AlgorithmContext, DataAlgorithm, RolloutBatch } from './algorithm.ts';
export { countTokens, mean, meanOverEpisodes, meanOverTokens, sumOverTokens } from './averages.ts';
export { type CheckpointState, checkpointSteps, resumeCheckpoint, saveCheckpoint } from './checkpoints.ts';
export { chooseParts, partProperties } from './choose-parts.ts';
export { type ConfigurableTrainer, defineTrainer, type TrainerDefinition } from './define-trainer.ts';
export {
  type BaselineKind,
  type BaselineOptions,
  baselineKinds,
  baselinePolicy,
  type Placement,
  placements,
} from './evaluation/baseline-policy.ts';
export { confidenceInterval, type Interval } from './evaluation/confidence-interval.ts';
export { type EvaluateOptions, type Evaluation, evaluate } from './evaluation/evaluate.ts';
export { type EvaluationOptions, evaluationOptions } from './evaluation/evaluation-options.ts';
export { pairedDifference } from './evaluation/paired-difference.ts';
export { type Estimate, passAtK, passRates } from './evaluation/pass-at-k.ts';
export { taskScores } from './evaluation/task-scores.ts';
export { defaultLearningRate } from './learning-rate/default-learning-rate.ts';
export { learningRateSchedule, type Schedule } from './learning-rate/learning-rate-schedule.ts';
export {
  hasFixedSchedule,
  type OptimizerOptions,
  optimizerOptions,
} from './learning-rate/optimizer-options.ts';
export type { Clipping } from './losses/clipped-loss.ts';
export {
  defineLoss,
  type EpisodeTokens,
  type Loss,
  type LossDefinition,
  type LossToken,
} from './losses/define-loss.ts';
export {
  adaptBeta,
  type KlEstimator,
  type KlInReward,
  klEstimate,
  penalisedRewards,
} from './losses/kl-penalty.ts';
export { type LossOptions, lossOptions, type OptionSchema, optionsOfParts } from './losses/loss-options.ts';
export { losses } from './losses/losses.ts';
export { optimizerStep } from './losses/optimizer-step.ts';
export {
  type PolicyLoss,
  type PolicyLossInputs,
  type PolicyLossOptions,
  policyLoss,
} from './losses/policy-loss.ts';
export type { MismatchCorrection } from './losses/sampler-mismatch.ts';
export { correctionOf, sampledLogprobsOf } from './losses/stale-samples.ts';
export type { TokenLoss } from './losses/token-loss.ts';
export type { Average } from './losses/token-weights.ts';
export { type ValueLoss, type ValueLossInputs, valueLoss } from './losses/value-loss.ts';
export { headlineMetric, headlineScore, scoreLabel } from './metrics/headline-score.ts';
export { meanMetrics } from './metrics/mean-metrics.ts';
export { metricNames } from './metrics/metric-names.ts';
export { klToStart, type PolicyStep, policyMetrics, samplerMetrics } from './metrics/policy-metrics.ts';
export { type RolloutTime, rolloutMetrics } from './metrics/rollout-metrics.ts';
export { explainedVariance, tokenStatistics } from './metrics/token-statistics.ts';
export {
  containsText,
  type EpisodeConditions,
  readConditions,
  type SummaryFilter,
} from './recorded/episode-filter.ts';
export { type EpisodeSummary, summaryOf } from './recorded/episode-summary.ts';
export {
  endOf,
  type MistakeCode,
  mistakeCodes,
  mistakeOf,
  outcomeKinds,
  type RecordedEpisode,
} from './recorded/recorded-episode.ts';
export { findRecordedRun, type RecordedRun, type RunFacts } from './recorded/recorded-run.ts';
export type { MetricSink, ReportedMetrics, ReportedRun, RunEnd } from './reports/metric-sink.ts';
export { type MlflowOptions, mlflow } from './reports/mlflow.ts';
export type { SinkName } from './reports/reports.ts';
export { type WandbOptions, wandb } from './reports/wandb.ts';
export {
  groupLengthRewards,
  type LengthOptions,
  lengthOptions,
  overlongPunishment,
  shapedByLength,
} from './rewards/length-rewards.ts';
export { drawEpisodes } from './rollouts/draw-episodes.ts';
export { withoutZeroVariance, zeroVarianceFraction } from './rollouts/zero-variance.ts';
export { carriedAdvantages, completionMask } from './rows/completion-mask.ts';
export { parentsOf, turnParents } from './rows/episode-tree.ts';
export { miniBatchesOf } from './rows/mini-batches.ts';
export { type RowParent, type TrainingRow, toTrainingRows } from './rows/training-row.ts';
export { type Curve, type CurveGroup, curveGroups, trainingCurves } from './run-folder/curves.ts';
export { type FolderLock, lockFolder, refuseLockedFolder } from './run-folder/folder-lock.ts';
export { type ChangesLine, readChanges } from './run-folder/run-changes.ts';
export { type Change, type Changes, changesText } from './run-folder/run-differences.ts';
export {
  bestCheckpoint,
  newestCheckpoint,
  type RunCheckpoint,
  refuseOtherRun,
  refuseUsedFolder,
} from './run-folder/run-folder.ts';
export { type MetricsLine, RunLog, readMetrics } from './run-folder/run-log.ts';
export { type Marker, type SvgChartOptions, svgChart } from './run-folder/svg-chart.ts';
export { writeWhole } from './run-folder/write-whole.ts';
export type { RunOptions } from './run-options.ts';
export { type SelectionOptions, selectionOptions } from './selection-options.ts';
export { type TrainOptions, train } from './train.ts';
export { type TrainSettings, trainSettings } from './train-settings.ts';
export type { ConfigurablePart } from './trainer-part.ts';
export { type UpdateOptions, updateOptions } from './update-options.ts';
export { mergedEpisodes, mergeGroups } from './workers/merge-groups.ts';
export {
  checkVersioned,
  type OpenPolicy,
  type PolicyVersion,
  withVersion,
} from './workers/policy-versions.ts';
export { type RolloutWorkerFlags, rolloutOptions } from './workers/rollout-options.ts';
export {
  agreeOnPlan,
  planOfEnv,
  type RolloutPlan,
  readPlan,
  refuseOtherPlan,
} from './workers/rollout-plan.ts';
export { type RolloutWorkerOptions, runRolloutWorker, type WorkerEvent } from './workers/rollout-worker.ts';
export { openSharedFolder, type SharedFolder } from './workers/shared-folder.ts';
export type { WorkerShare } from './workers/wanted-groups.ts';
