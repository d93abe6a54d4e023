/** What each side is run with. */
import type { StepReport } from './learning-curve.ts';
import type { Setting } from './setting.ts';

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
