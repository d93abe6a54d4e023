/** Harbor: a folder of tasks and the containers to play them in, for harbor-v1 and for environments of your own agents. */
import type { Split } from '@toolenv/core';
import { completeOptions } from '@toolenv/core/plugins';
import { Boxes } from './box/boxes.ts';
import { HarborEpisode } from './harbor-episode.ts';
import { type HarborOptions, harborOptions } from './harbor-options.ts';
import { type HarborTasks, type PlayedTask, readTasks } from './task/read-tasks.ts';

/** Entries of the agent's files that the verifier of a step gets. */
const maxEntries = 10_000;

export class Harbor {
  readonly #tasks: HarborTasks;
  readonly #boxes: Boxes;
  readonly #options: HarborOptions;

  /** `openHarbor` reads the tasks and fills in the options. */
  constructor(tasks: HarborTasks, options: HarborOptions) {
    this.#tasks = tasks;
    this.#options = options;
    this.#boxes = new Boxes(options);
  }

  /** The tasks of each split. */
  get tasks(): Record<Split, PlayedTask[]> {
    return this.#tasks.splits;
  }

  /** Connects to the daemon. @throws ToolEnvError `usage.sandbox` if none answers. */
  async connect(): Promise<void> {
    await this.#boxes.connect();
  }

  /**
   * Finds or builds the image in which the agent of a task works. Otherwise its first command does.
   * @throws ToolEnvError `usage.sandbox` if there is no such image, or if it does not build.
   */
  async prepare(task: PlayedTask): Promise<void> {
    await this.#boxes.image(this.#tasks.known(task).box);
  }

  /**
   * Begins an episode, which starts its container when it is first needed. Close the episode.
   * @param commandTime Milliseconds of a command that the agent runs in its sandbox.
   * @throws ToolEnvError `usage.harbor_task` for a task of another folder.
   */
  begin(task: PlayedTask, { commandTime = 120_000 }: { commandTime?: number } = {}): HarborEpisode {
    const { timeFactor: factor, artifacts } = this.#options;
    return new HarborEpisode(this.#tasks.known(task), this.#boxes, {
      times: { command: commandTime, factor },
      limits: { bytes: artifacts * 2 ** 20, entries: maxEntries },
    });
  }

  /** Waits until the containers of closed episodes are gone. */
  async close(): Promise<void> {
    await this.#boxes.settled();
  }
}

/**
 * Reads the tasks of a folder. Close the result when all episodes are closed. The options are those of `harbor-v1`.
 * @throws ToolEnvError `usage.*` for wrong options, and for a folder or task that cannot be played.
 */
export async function openHarbor(given: { tasks: string } & Partial<HarborOptions>): Promise<Harbor> {
  const options = completeOptions(harborOptions, given, 'openHarbor');
  const tasks = await readTasks(options);
  for (const note of tasks.notes) process.emitWarning(note, 'HarborTasks');
  return new Harbor(tasks, options);
}
