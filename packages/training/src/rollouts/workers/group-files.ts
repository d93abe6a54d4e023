/** The finished groups of a shared folder: one file for the episodes of a group, which appears whole and is written once. */
import { existsSync } from 'node:fs';
import { readdir, rename } from 'node:fs/promises';
import { join } from 'node:path';
import { EpisodeStatistics, messageOf, summariseEpisode, ToolEnvError, type Trajectory } from '@toolenv/core';
import { withDiskErrors, writeAtomic } from '@toolenv/core/files';
import { encodeTrajectory, readTrajectories, trajectoryMistake } from '@toolenv/core/recording';
import { writeOnce } from './shared-folder.ts';

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

/** What is known of the groups, and is not believed of their files. */
export interface GroupForm {
  /** Episodes of a group. Absent: any number. */
  samples?: number;
  /** Tokens are below it. Absent: not checked. */
  vocabularySize?: number | undefined;
}

export class GroupFiles {
  readonly #folder: string;
  readonly #form: GroupForm;
  /** What was wrong with the last file that {@link GroupFiles.read} has set aside. */
  damage: string | undefined;

  constructor(folder: string, form: GroupForm = {}) {
    this.#folder = folder;
    this.#form = form;
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
   * The episodes of a group, by `sample`. A file that is damaged, or whose episodes break a rule, is set aside, so that the group
   * can be played again: `undefined`.
   * @throws ToolEnvError `usage.record_version`.
   */
  async read(group: number): Promise<StampedTrajectory[] | undefined> {
    const file = this.file(group);
    try {
      const episodes: StampedTrajectory[] = [];
      for await (const trajectory of readTrajectories(file)) episodes.push(trajectory as StampedTrajectory);
      const wrong = this.#mistake(group, episodes);
      if (wrong) throw new ToolEnvError('usage.broken_record', wrong);
      return episodes.sort((a, b) => a.sample - b.sample);
    } catch (error) {
      if (!ToolEnvError.isInstance(error) || error.code !== 'usage.broken_record') throw error;
      this.damage = `${file} is damaged (${messageOf(error)})`;
      process.emitWarning(`${this.damage}: it is set aside.`);
      await withDiskErrors(file, () => rename(file, `${file}.damaged`));
      return undefined;
    }
  }

  #mistake(group: number, episodes: readonly StampedTrajectory[]): string | undefined {
    const samples = new Set(episodes.map(({ sample }) => sample));
    const { samples: expected = samples.size, vocabularySize = Number.POSITIVE_INFINITY } = this.#form;
    const isWhole = samples.size > 0 && samples.size === expected && samples.size === episodes.length;
    if (!isWhole || episodes.some((each) => each.group !== group || each.sample >= expected))
      return 'it must have each episode of one group once';
    for (const episode of episodes) {
      const wrong = trajectoryMistake(episode) ?? strangeToken(episode, vocabularySize);
      if (wrong) return `episode ${episode.sample} breaks ${wrong}`;
    }
    return undefined;
  }

  file(group: number): string {
    return join(this.#folder, `${group}.jsonl`);
  }
}

/** A token that the learner has no row for. */
function strangeToken({ steps }: Trajectory, vocabularySize: number): string | undefined {
  for (const [turn, { action }] of steps.entries()) {
    for (const ids of [action.tokens?.prompt, action.tokens?.action]) {
      const strange = ids?.find((id) => id >= vocabularySize);
      if (strange !== undefined)
        return `POL-3 in step ${turn}: token ${strange} is beyond the vocabulary of ${vocabularySize}`;
    }
  }
  return undefined;
}

/** The episodes of a folder of groups, by group and sample. */
export async function* mergedEpisodes(
  folder: string,
  form?: GroupForm,
): AsyncGenerator<StampedTrajectory, void, void> {
  const files = new GroupFiles(folder, form);
  for (const group of await files.list()) {
    for (const episode of (await files.read(group)) ?? []) yield episode;
  }
}

/**
 * Writes them to a file, which appears whole. Several workers may do so at once: they write the same.
 * @param form What is known of the groups. A group of another form is left out.
 * @returns Their means.
 */
export async function mergeGroups(
  folder: string,
  file: string,
  form?: GroupForm,
): Promise<EpisodeStatistics> {
  const statistics = new EpisodeStatistics();
  const lines = async function* () {
    for await (const episode of mergedEpisodes(folder, form)) {
      statistics.add(summariseEpisode(episode));
      yield `${encodeTrajectory(episode)}\n`;
    }
  };
  await writeAtomic(file, lines());
  return statistics;
}
