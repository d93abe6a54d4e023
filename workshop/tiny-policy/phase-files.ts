/** The data file of a phase: its exercises and demonstrations, batch after batch. */
import { createWriteStream } from 'node:fs';
import { rename } from 'node:fs/promises';
import { pipeline } from 'node:stream/promises';
import { deriveSeed, type Rng } from '@toolenv/core';
import { worldVocabulary } from '@toolenv/envs-qa';
import { comparisonExercises } from './comparison-exercises.ts';
import { copyExercises } from './copy-exercises.ts';
import { demonstrations } from './demonstrations.ts';
import type { Family } from './families.ts';
import { drawSymbol } from './library/draw-symbol.ts';
import { type LibraryName, library } from './library/library.ts';
import { libraryEpisodes } from './library/library-episodes.ts';
import { toolExercises } from './library/tool-exercises.ts';
import type { Line } from './lines.ts';
import { readingExercises } from './reading-exercises.ts';
import type { Phase, Source } from './recipes.ts';

type Lines = AsyncGenerator<Line, never, void> | Generator<Line, never, void>;

export interface PhaseFile {
  facts: boolean;
  /** Whether copies have numbers and letters too, and goals are left out. */
  isOfLibrary: boolean;
  /** Text between a list and its copy. */
  separator: string;
  /** Batches to write. */
  steps: number;
  seed: number;
}

/** The file appears whole. Worlds differ from seed to seed, so that another seed gives held-out lines. */
export async function writePhaseFile(file: string, phase: Phase, options: PhaseFile): Promise<void> {
  const partial = `${file}.partial`;
  await pipeline(lines(phase, options), createWriteStream(partial));
  await rename(partial, file);
}

async function* lines(phase: Phase, options: PhaseFile): AsyncGenerator<string> {
  const { name, batch, mix, maxTurns, isHasty } = phase;
  const { facts, isOfLibrary, separator, steps, seed } = options;
  const seedOf = (source: string) => deriveSeed(seed, name, source);
  const names = worldVocabulary().filter((word) => /^[A-Z][a-z]{3}/.test(word));
  const drawWord = (rng: Rng) => (isOfLibrary && rng.float() < 0.5 ? drawSymbol(rng) : rng.pick(names));
  const demonstrationsOf = (source: Family | LibraryName) =>
    source in library
      ? libraryEpisodes({ name: source as LibraryName, seed: seedOf(source), isHasty })
      : familyDemonstrations(source as Family);
  const familyDemonstrations = (family: Family) =>
    demonstrations({
      family,
      mix,
      maxTurns,
      ...(isOfLibrary && { leavesOut: true, episodesPerWorld: 400 }),
      seed: seedOf(family),
    });
  const exercises: Partial<Record<Source, Lines>> = {
    copies: copyExercises(drawWord, separator, seedOf('copies')),
    readings: readingExercises({ seed: seedOf('readings'), facts }),
    comparisons: comparisonExercises(seedOf('comparisons')),
    tools: toolExercises(seedOf('tools')),
  };
  const counts = Object.entries(batch) as [Source, number][];
  const sources = counts.map(([source, count]) => ({
    count,
    lines: exercises[source] ?? demonstrationsOf(source as Family | LibraryName),
  }));
  for (let step = 0; step < steps; step++) {
    for (const { lines, count } of sources) {
      for (let i = 0; i < count; i++) {
        const { value } = await lines.next();
        yield `${JSON.stringify(value)}\n`;
      }
    }
  }
}

export function batchSizeOf({ batch }: Phase): number {
  return Object.values(batch).reduce((sum, count) => sum + count, 0);
}
