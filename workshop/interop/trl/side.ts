/** The options of each side, and the checkpoint and the goal that both sides share. */
import { join } from 'node:path';
import type { training } from '../../demo/setting.ts';
import type { StepReport } from './learning-curve.ts';

export const checkpoint: string = join(import.meta.dirname, '../../../packages/checkpoints/tiny');

/** A mean exact match of the sampled training episodes over the last `window` steps. */
export const goal = { em: 0.8, window: 5 };

/** Options of GRPO, with the names of trainer-grpo. */
export type Setting = typeof training & { beta: number };

export interface SideOptions {
  setting: Setting;
  /** Folder for the trained policy. */
  out: string;
  seed: number;
  threads: number;
  maxSteps: number;
  /** Called at the end of each step; `true` ends the training. */
  onStep(report: StepReport): boolean;
}
