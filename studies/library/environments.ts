/** The environments of the study: those that the small policy learned, and others. */
import type { QaTask } from '@toolenv/envs-qa';
import { envOptions } from '../../workshop/demo/setting.ts';
import { type Family, families } from '../../workshop/tiny-policy/families.ts';
import { questionGoal } from '../../workshop/tiny-policy/library/goals.ts';
import { library } from '../../workshop/tiny-policy/library/library.ts';
import type { LibraryEnvironment } from '../../workshop/tiny-policy/library/player.ts';

function questionsOf(family: Family): LibraryEnvironment<QaTask> {
  const { ref, options } = families[family];
  return { ref, options: { ...envOptions, ...options }, maxTokens: 64, success: 'em', goal: questionGoal };
}

/** Two-hop questions stand for the worlds of questions. */
const learned = { ...library, bridge: questionsOf('bridge') };

/** No demonstration shows questions of these sorts. */
const unseen = {
  claims: questionsOf('one-hop claims'),
  comparison: questionsOf('comparison'),
  compose: questionsOf('compose'),
};

export const environments = { ...learned, ...unseen };
export type EnvironmentName = keyof typeof environments;
export const environmentNames = Object.keys(environments) as EnvironmentName[];
export const learnedNames = Object.keys(learned) as (keyof typeof learned)[];
export const unseenNames = Object.keys(unseen) as (keyof typeof unseen)[];

/** Success of players that win every task, which a test asserts. No such player exists for questions. */
export function ceilingOf(name: EnvironmentName): number | undefined {
  return name in library ? 1 : undefined;
}
