/** Merging: the episodes of all workers in one file, in the order of the plan, each (group, sample) once. */
import { EpisodeStatistics, summariseEpisode } from '@toolenv/core';
import { writeAtomic } from '@toolenv/core/files';
import { encodeTrajectory } from '@toolenv/core/recording';
import { GroupFiles, type GroupForm, type StampedTrajectory } from './group-files.ts';

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
