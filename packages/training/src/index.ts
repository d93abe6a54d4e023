/** @toolenv/training: the run loop of trainers, and the parts that algorithms are made of. */
export { type AdvantageOptions, estimateAdvantages } from './advantages/estimate-advantages.ts';
export { type GeneralizedAdvantages, generalizedAdvantages } from './advantages/generalized-advantage.ts';
export { groupAdvantages, leaveOneOutAdvantages, type RewardScale } from './advantages/group-advantages.ts';
export { normalisedRewards } from './advantages/normalise-process-rewards.ts';
export {
  discountedReturns,
  reinforceAdvantages,
  reinforceBaselineAdvantages,
} from './advantages/reinforce-advantages.ts';
export { turnAdvantages } from './advantages/turn-advantages.ts';
export { whiten } from './advantages/whiten.ts';
export type { Algorithm, AlgorithmContext, RolloutBatch } from './algorithm.ts';
export { countTokens, meanOverRows, meanOverTokens, sumOverTokens } from './averages.ts';
export { type CheckpointState, checkpointSteps, resumeCheckpoint, saveCheckpoint } from './checkpoints.ts';
export { type ConfigurableTrainer, defineTrainer, type TrainerDefinition } from './define-trainer.ts';
export { type EvaluateOptions, type Evaluation, evaluate } from './evaluation/evaluate.ts';
export { type EvaluationOptions, evaluationOptions } from './evaluation/evaluation-options.ts';
export {
  adaptBeta,
  type KlEstimator,
  type KlInReward,
  klEstimate,
  penalisedRewards,
} from './losses/kl-penalty.ts';
export { optimizerStep } from './losses/optimizer-step.ts';
export {
  type PolicyLoss,
  type PolicyLossInputs,
  type PolicyLossOptions,
  policyLoss,
} from './losses/policy-loss.ts';
export type { LossType } from './losses/row-weights.ts';
export type { MismatchCorrection } from './losses/sampler-mismatch.ts';
export { type ValueLoss, type ValueLossInputs, valueLoss } from './losses/value-loss.ts';
export { headlineMetric, headlineScore, scoreLabel } from './metrics/headline-score.ts';
export { meanMetrics } from './metrics/mean-metrics.ts';
export { metricNames } from './metrics/metric-names.ts';
export { klToStart, type PolicyStep, policyMetrics, samplerMetrics } from './metrics/policy-metrics.ts';
export { type RolloutTime, rolloutMetrics } from './metrics/rollout-metrics.ts';
export { explainedVariance, tokenStatistics } from './metrics/token-statistics.ts';
export type { MetricSink, ReportedMetrics, ReportedRun, RunEnd } from './reports/metric-sink.ts';
export { type MlflowOptions, mlflow } from './reports/mlflow.ts';
export type { SinkName } from './reports/reports.ts';
export { type WandbOptions, wandb } from './reports/wandb.ts';
export { drawEpisodes } from './rollouts/draw-episodes.ts';
export { withoutZeroVariance, zeroVarianceFraction } from './rollouts/zero-variance.ts';
export { completionMask } from './rows/completion-mask.ts';
export { miniBatchesOf } from './rows/mini-batches.ts';
export { type TrainingRow, toTrainingRows } from './rows/training-row.ts';
export { type Curve, type CurveGroup, curveGroups, trainingCurves } from './run-folder/curves.ts';
export { type FolderLock, lockFolder, refuseLockedFolder } from './run-folder/folder-lock.ts';
export { type ChangesLine, readChanges } from './run-folder/run-changes.ts';
export { type Change, type Changes, changesText } from './run-folder/run-differences.ts';
export {
  newestCheckpoint,
  type RunCheckpoint,
  refuseOtherRun,
  refuseUsedFolder,
} from './run-folder/run-folder.ts';
export { type MetricsLine, RunLog, readMetrics } from './run-folder/run-log.ts';
export { type Marker, type SvgChartOptions, svgChart } from './run-folder/svg-chart.ts';
export { writeWhole } from './run-folder/write-whole.ts';
export type { RunOptions } from './run-options.ts';
export { type TrainOptions, train } from './train.ts';
export { type TrainSettings, trainSettings } from './train-settings.ts';
export { type UpdateOptions, updateOptions } from './update-options.ts';
