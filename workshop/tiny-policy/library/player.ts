/** What the small policy needs to know of an environment of the library, and the players that show it. */
import type { Rng, Script } from '@toolenv/core';

export interface LibraryEnvironment<Task> {
  ref: string;
  /** Options of the environment that are not the defaults. */
  options: Readonly<Record<string, unknown>>;
  /** Most tokens of a turn. */
  maxTokens: number;
  /** The reward component that says whether an episode succeeded: 0 or 1. */
  success: string;
  /** The sort of a task. Some sorts are left out of the demonstrations. */
  goal(task: Task): string;
}

/** Plays an environment as a policy could: it acts on a fact only after the fact was read. */
export interface LibraryPlayer<Task> extends LibraryEnvironment<Task> {
  /** The people that a task is about, of whom there are few. Demonstrations give them other names. Default: none. */
  people?(task: Task): readonly string[];
  /** Makes the player of one episode, who wins. */
  play(task: Task, rng: Rng): Script;
}
