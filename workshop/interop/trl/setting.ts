/** What both sides share: the demo's setting, and the goal. */
import { join } from 'node:path';

export const environment = '@toolenv/envs-qa/bridge-v1';
export const envOptions = { topK: 2 };
export const checkpoint: string = join(import.meta.dirname, '..', '..', 'tiny-policy', 'checkpoint');

/** Of GRPO, under the names of trainer-grpo. */
export const demoSetting = {
  tasksPerStep: 16,
  groupSize: 8,
  learningRate: 3e-5,
  beta: 0.1,
  temperature: 1,
  maxTokens: 64,
};

export type Setting = typeof demoSetting;

/** The exact match of the episodes that training samples, as the mean over the last `window` steps. */
export const goal = { em: 0.8, window: 5 };
