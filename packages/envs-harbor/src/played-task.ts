/** PlayedTask: what an episode of harbor-v1 and its trajectory know of a task. The tests and what they expect stay in the folder. */

export interface PlayedTask {
  /** Name of the folder. */
  name: string;
  /** Absolute path. */
  folder: string;
  /** Of the first step. */
  instruction: string;
  /** Names of the steps; one empty name for a task without `[[steps]]`. */
  steps: string[];
}
