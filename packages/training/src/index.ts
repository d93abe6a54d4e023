/** @toolenv/training: the run loop of trainers, and the parts that algorithms are made of. */

export { diagnose, diagnosisRules, readDiagnoses } from './diagnosis/diagnose.ts';
export type {
  Diagnosis,
  DiagnosisName,
  DiagnosisRule,
  ExampleEpisodes,
  Finding,
} from './diagnosis/diagnosis.ts';
export type { RunHistory } from './diagnosis/run-history.ts';
export type { Series } from './diagnosis/series.ts';
export { baselinePolicy } from './evaluation/baseline-policy.ts';
export type { Estimate, Interval } from './evaluation/confidence-interval.ts';
export { type EvaluateOptions, type Evaluation, evaluate } from './evaluation/evaluate.ts';
export type { EvaluatedTask } from './evaluation/evaluated-task.ts';
export { pairedDifference } from './evaluation/paired-difference.ts';
export { readEvaluation } from './evaluation/read-evaluation.ts';
export { type Rescored, type RescoreOptions, rescore } from './evaluation/rescore.ts';
export { type RescoredScore, RescoredScores, type RescoredSummary } from './evaluation/rescored-scores.ts';
export {
  playTournament,
  type Standing,
  type Tournament,
  type TournamentOptions,
} from './evaluation/tournament.ts';
export { metricNames } from './reports/metric-names.ts';
export { BusyClock } from './reports/timed-learner.ts';
export { AbortWatch } from './rollouts/abort-watch.ts';
export { draw, drawEpisodes } from './rollouts/draw-episodes.ts';
export { playEpisodes } from './rollouts/play-episodes.ts';
export {
  countTokens,
  groupBy,
  mean,
  meanOverEpisodes,
  meanOverTokens,
  sumOverTokens,
} from './rows/averages.ts';
export { outcomeScore } from './rows/outcome-score.ts';
export { explainedVariance, tokenStatistics } from './rows/token-statistics.ts';
export { type TrainingRow, toTrainingRows } from './rows/training-row.ts';
export { withoutZeroVariance } from './rows/zero-variance.ts';
export { type ConfigurableTrainer, defineTrainer, type PromptTrainer } from './run/define-trainer.ts';
export type { PromptTrainOptions, TrainOptions } from './run/prepare-run.ts';
export { train } from './run/train.ts';
export { bestCheckpoint, type CheckpointPart } from './run-folder/checkpoints.ts';
export { curveGroups, trainingCurves } from './run-folder/curves.ts';
export { type RunVersions, runVersions } from './run-folder/run-config.ts';
export { refuseUsedFolder } from './run-folder/run-folder.ts';
export { type MetricsLine, RunLog, readMetrics } from './run-folder/run-log.ts';
export type {
  Algorithm,
  AlgorithmContext,
  DataAlgorithm,
  PlayingAlgorithm,
  PromptAlgorithm,
  RolloutBatch,
} from './trainer/algorithm.ts';
export { hasFixedSchedule } from './trainer/optimizer-options.ts';
export type { RunOptions } from './trainer/run-options.ts';
export { type SelectionOptions, selectionOptions } from './trainer/selection-options.ts';
export type { ConfigurablePart } from './trainer/trainer-part.ts';
export { type UpdateOptions, updateOptions } from './trainer/update-options.ts';
export { type AdvantageOptions, advantageOptions } from './update/advantages/advantage-options.ts';
export { advantages, estimatorOf } from './update/advantages/advantages.ts';
export {
  type AdvantageEstimator,
  type AdvantageInputs,
  advantageInputs,
  defineAdvantage,
  estimateAdvantages,
  ofEpisodes,
  ofTurns,
  turnsOf,
} from './update/advantages/define-advantage.ts';
export {
  generalizedAdvantages,
  type TurnAdvantages,
  turnGeneralizedAdvantages,
} from './update/advantages/generalized-advantage.ts';
export {
  groupAdvantages,
  leaveOneOutAdvantages,
  turnAdvantages,
  turnReturns,
} from './update/advantages/group-advantages.ts';
export { whiten } from './update/advantages/reinforce-advantages.ts';
export { computeLogprobs } from './update/compute-logprobs.ts';
export { applyLengthRewards, type LengthOptions, lengthOptions } from './update/length-rewards.ts';
export { defineLoss, type Loss } from './update/losses/define-loss.ts';
export { adaptBeta, penalisedRewards } from './update/losses/kl-penalty.ts';
export { type LossOptions, lossOptions, type OptionSchema } from './update/losses/loss-options.ts';
export { losses } from './update/losses/losses.ts';
export { policyLoss } from './update/losses/policy-loss.ts';
export { checkLoss, differsFromSampler } from './update/losses/sampler-mismatch.ts';
export { valueLoss } from './update/losses/value-loss.ts';
export { samplerMetrics } from './update/policy-metrics.ts';
export { rewardTokens } from './update/reward-tokens.ts';
export {
  emptyUpdate,
  learnDefaults,
  meanMetrics,
  miniBatchesOf,
  runOptimizerSteps,
} from './update/run-optimizer-steps.ts';
export { learnedAdvantages, tokenMasks } from './update/token-masks.ts';
