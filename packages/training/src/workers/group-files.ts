/** The finished groups of a shared folder: one file for the episodes of a group, which appears whole and is written once. */
import { existsSync } from 'node:fs';
import { readdir, rename } from 'node:fs/promises';
import { join } from 'node:path';
import { messageOf, ToolEnvError, type Trajectory } from '@toolenv/core';
import { encodeTrajectory, readTrajectories, writing } from '@toolenv/core/recording';
import { writeOnce } from './write-once.ts';

/** What a worker adds to each trajectory. */
export interface EpisodeStamp {
  /** Index of the task in its split. */
  taskIndex: number;
  worker: string;
  /** Updates of the policy that began the group; absent for a policy without versions. */
  policyVersion?: number;
  /** How often the trainer had resumed when it made that policy. */
  restart?: number;
}

export type StampedTrajectory = Trajectory & EpisodeStamp;

const fileName = /^(\d+)\.jsonl$/;

export class GroupFiles {
  readonly #folder: string;

  constructor(folder: string) {
    this.#folder = folder;
  }

  /** Whether the group is finished. */
  has(group: number): boolean {
    return existsSync(this.file(group));
  }

  /** The finished groups, ascending. */
  async list(): Promise<number[]> {
    const names = await readdir(this.#folder);
    const groups = names.flatMap((name) => fileName.exec(name)?.[1] ?? []);
    return groups.map(Number).sort((a, b) => a - b);
  }

  /** @returns Whether these episodes count. `false` if another worker has written the group. */
  write(group: number, trajectories: readonly Trajectory[], stamp: EpisodeStamp): Promise<boolean> {
    const lines = trajectories.map((trajectory) => `${encodeTrajectory({ ...stamp, ...trajectory })}\n`);
    return writeOnce(this.file(group), lines.join(''));
  }

  /**
   * The episodes of a group, by `sample`. A damaged file is set aside, so that the group is played again: `undefined`.
   * @throws ToolEnvError `usage.record_version`.
   */
  async read(group: number): Promise<StampedTrajectory[] | undefined> {
    const file = this.file(group);
    try {
      const episodes: StampedTrajectory[] = [];
      for await (const trajectory of readTrajectories(file)) episodes.push(trajectory as StampedTrajectory);
      const samples = new Set(episodes.map(({ sample }) => sample));
      if (
        samples.size === 0 ||
        samples.size < episodes.length ||
        episodes.some((each) => each.group !== group)
      )
        throw new ToolEnvError('usage.broken_record', 'it must have each episode of one group once');
      return episodes.sort((a, b) => a.sample - b.sample);
    } catch (error) {
      if (!ToolEnvError.isInstance(error) || error.code !== 'usage.broken_record') throw error;
      process.emitWarning(`${file} is damaged (${messageOf(error)}): playing its group again.`);
      await writing(file, () => rename(file, `${file}.damaged`));
      return undefined;
    }
  }

  file(group: number): string {
    return join(this.#folder, `${group}.jsonl`);
  }
}
