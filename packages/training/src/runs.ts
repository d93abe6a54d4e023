/** @toolenv/training/runs: for programs that plan, start, read, compare and show runs, such as the command line and the viewer. */
export type { RunRecords } from './diagnosis/run-history.ts';
export {
  type BaselineKind,
  baselineKinds,
  type Placement,
  placements,
} from './evaluation/baseline-policy.ts';
export {
  type Comparison,
  compareEvaluations,
  type ScoreDifferences,
  type Scored,
  scoreDifferences,
  scoredMetric,
} from './evaluation/compare-evaluations.ts';
export { type ComparisonBounds, comparisonVerdict } from './evaluation/comparison-verdict.ts';
export { independentDifference, pairedDifference } from './evaluation/paired-difference.ts';
export type { Verdict } from './evaluation/verdict.ts';
export { type ScoreBounds, scoreVerdict } from './evaluation/verdict.ts';
export { abortShares } from './reports/abort-metrics.ts';
export { headlineMetric, primaryMetric, scoreLabel } from './reports/primary-metric.ts';
export { successShare } from './rollouts/success-share.ts';
export { mergeGroups } from './rollouts/workers/group-files.ts';
export { checkVersioned, withVersion } from './rollouts/workers/policy-versions.ts';
export {
  agreeOnPlan,
  planOfEnv,
  type RolloutPlan,
  readPlan,
  refuseOtherPlan,
} from './rollouts/workers/rollout-plan.ts';
export { runRolloutWorker, type WorkerEvent } from './rollouts/workers/rollout-worker.ts';
export { openSharedFolder, type SharedFolder } from './rollouts/workers/shared-folder.ts';
export type { WorkerShare } from './rollouts/workers/training-state.ts';
export { newestCheckpoint, resumeCheckpoint, saveCheckpoint } from './run-folder/checkpoints.ts';
export { type ChangesLine, readChanges, readConfig } from './run-folder/run-config.ts';
export { changesText, isSameValue, placeOf } from './run-folder/run-differences.ts';
export { type RunStatus, readStatus } from './run-folder/run-end.ts';
export { refuseRun } from './run-folder/run-folder.ts';
export { partNouns, partProperties } from './trainer/choose-parts.ts';
export { type EvaluationOptions, evaluationOptions, rolloutOptions } from './trainer/evaluation-options.ts';
export { refuseConstrainedRollouts } from './trainer/require-parts.ts';
export { trainSettings } from './trainer/train-settings.ts';
