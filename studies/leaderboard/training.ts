/** Trainers, and the options that several studies share. */
import type { StudyOptions } from './study.ts';

export const grpo = '@toolenv/trainer-grpo/grpo-v1';
export const ppo = '@toolenv/trainer-ppo/ppo-v1';
export const sft = '@toolenv/trainer-sft/sft-v1';
export const rejectionSampling = '@toolenv/trainer-sft/rejection-sampling-v1';
export const dpo = '@toolenv/trainer-sft/dpo-v1';
export const onlineDpo = '@toolenv/trainer-sft/online-dpo-v1';

export const episodes: StudyOptions = {
  steps: 30,
  tasksPerStep: 16,
  groupSize: 8,
  temperature: 1,
  maxTokens: 64,
  patience: 0,
};

/** Of most agents. */
export const usual = { learningRate: 1e-4 };
/** The tiny policy's critic learns at a higher rate than that of a large model. */
export const actorCritic = { ...usual, criticLearningRate: 3e-4 };
