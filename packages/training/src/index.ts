/** @toolenv/training: what every trainer needs, and the run loop that they share. */
export { type CheckpointState, checkpointSteps, resumeCheckpoint, saveCheckpoint } from './checkpoints.ts';
export { completionMask } from './completion-mask.ts';
export { drawEpisodes } from './draw-episodes.ts';
export { type EvaluateOptions, type Evaluation, evaluate } from './evaluate.ts';
export { type GeneralizedAdvantages, generalizedAdvantages } from './generalized-advantage.ts';
export { meanMetrics } from './mean-metrics.ts';
export { miniBatchesOf } from './mini-batches.ts';
export { optimizerStep } from './optimizer-step.ts';
export { type Ahead, playAhead } from './play-ahead.ts';
export { normalisedRewards } from './process-rewards.ts';
export { rolloutMetrics } from './rollout-metrics.ts';
export { defineTrainer } from './trainer.ts';
export { type TrainingRow, toTrainingRows } from './training-row.ts';
export { validationScores } from './validation-scores.ts';
export { whiten } from './whiten.ts';
