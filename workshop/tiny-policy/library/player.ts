/** What the small policy needs to know of an environment of the library, and the players that show it. */
import { type EnvDefinition, openEnv, type Rng, type Script } from '@toolenv/core';

export interface LibraryEnvironment<Task> {
  /** The environment, or the reference of its plugin. */
  ref: string | EnvDefinition;
  /** Options of the environment that are not the defaults. */
  options: Readonly<Record<string, unknown>>;
  /** Most tokens of a turn. */
  maxTokens: number;
  /** The reward component that says whether an episode succeeded: 0 or 1. */
  success: string;
  /** The sort of a task. Some sorts are left out of the demonstrations. */
  goal(task: Task): string;
}

/** Opens the environment. Close it when it is no longer needed. */
export function openLibraryEnv(
  { ref, options }: Pick<LibraryEnvironment<never>, 'ref' | 'options'>,
  seed: number,
): ReturnType<typeof openEnv> {
  return typeof ref === 'string' ? openEnv(ref, options, { seed }) : openEnv(ref, options, { seed });
}

/** Plays an environment as a policy could: it acts on a fact only after the fact was read. */
export interface LibraryPlayer<Task> extends LibraryEnvironment<Task> {
  /** The people that a task is about, of whom there are few. Demonstrations give them other names. Default: none. */
  people?(task: Task): readonly string[];
  /** Makes the player of one episode, who wins. A hasty player sometimes leaves out a step, and then loses. */
  play(task: Task, rng: Rng, isHasty?: boolean): Script;
}
