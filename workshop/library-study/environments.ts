/** The environments of the study: those that the small policy learned. */
import type { QaTask } from '@toolenv/envs-qa';
import { envOptions } from '../demo/setting.ts';
import { families } from '../tiny-policy/families.ts';
import { questionGoal } from '../tiny-policy/library/goals.ts';
import { library } from '../tiny-policy/library/library.ts';
import type { LibraryEnvironment } from '../tiny-policy/library/player.ts';

/** Two-hop questions, which stand for the worlds of questions. */
const bridge: LibraryEnvironment<QaTask> = {
  ref: families.bridge.ref,
  options: envOptions,
  maxTokens: 64,
  success: 'em',
  goal: questionGoal,
};

export const environments = { ...library, bridge };
export type EnvironmentName = keyof typeof environments;
export const environmentNames = Object.keys(environments) as EnvironmentName[];
