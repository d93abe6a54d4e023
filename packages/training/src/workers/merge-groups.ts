/** Merging: the episodes of all workers in one file, in the order of the plan, each (group, sample) once. */

import { randomBytes } from 'node:crypto';
import { createWriteStream } from 'node:fs';
import { rename, rm } from 'node:fs/promises';
import { pipeline } from 'node:stream/promises';
import { EpisodeStatistics, summariseEpisode } from '@toolenv/core';
import { encodeTrajectory, writing } from '@toolenv/core/recording';
import { GroupFiles, type StampedTrajectory } from './group-files.ts';

/** The episodes of a folder of groups, by group and sample. */
export async function* mergedEpisodes(folder: string): AsyncGenerator<StampedTrajectory, void, void> {
  const files = new GroupFiles(folder);
  for (const group of await files.list()) {
    for (const episode of (await files.read(group)) ?? []) yield episode;
  }
}

/**
 * Writes them to a file, which appears whole. Several workers may do so at once: they write the same.
 * @returns Their means.
 */
export async function mergeGroups(folder: string, file: string): Promise<EpisodeStatistics> {
  const statistics = new EpisodeStatistics();
  const partial = `${file}.${randomBytes(6).toString('hex')}.partial`;
  const lines = async function* () {
    for await (const episode of mergedEpisodes(folder)) {
      statistics.add(summariseEpisode(episode));
      yield `${encodeTrajectory(episode)}\n`;
    }
  };
  await writing(file, async () => {
    try {
      await pipeline(lines, createWriteStream(partial));
      await rename(partial, file);
    } finally {
      await rm(partial, { force: true }).catch(() => {});
    }
  });
  return statistics;
}
