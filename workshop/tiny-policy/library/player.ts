/** LibraryPlayer: what the demonstrations of an environment of the library need. */
import type { Rng, Script } from '@toolenv/core';

/** Plays an environment as a policy could: it acts on a fact only after the fact was read. */
export interface LibraryPlayer<Task> {
  ref: string;
  /** Options of the environment that are not the defaults. */
  options: Readonly<Record<string, unknown>>;
  /** Most tokens of a turn. */
  maxTokens: number;
  /** The sort of a task. Some sorts are left out of the demonstrations. */
  goal(task: Task): string;
  /**
   * Makes the player of one episode.
   * @param careless Whether the player makes a mistake that decides the episode.
   */
  play(task: Task, careless: boolean, rng: Rng): Script;
}
