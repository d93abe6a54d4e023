/** The data file of a phase: its exercises and demonstrations, batch after batch. */
import { createWriteStream } from 'node:fs';
import { rename } from 'node:fs/promises';
import { pipeline } from 'node:stream/promises';
import { deriveSeed } from '@toolenv/core';
import { worldVocabulary } from '@toolenv/envs-qa';
import { comparisonExercises } from './comparison-exercises.ts';
import { copyExercises } from './copy-exercises.ts';
import { demonstrations } from './demonstrations.ts';
import type { Line } from './lines.ts';
import { readingExercises } from './reading-exercises.ts';
import type { Batch, Family, Phase } from './recipes.ts';

type Source = AsyncGenerator<Line, never, void> | Generator<Line, never, void>;

export interface PhaseFile {
  facts: boolean;
  /** Number of documents in a search result. */
  topK: number;
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

async function* lines(
  phase: Phase,
  { facts, topK, separator, steps, seed }: PhaseFile,
): AsyncGenerator<string> {
  const { name, batch, mix } = phase;
  const seedOf = (source: string) => deriveSeed(seed, name, source);
  const names = worldVocabulary().filter((word) => /^[A-Z][a-z]{3}/.test(word));
  const demonstrationsOf = (family: Family) =>
    demonstrations({ ref: referenceOf(family), topK, mix, seed: seedOf(family) });
  const sources: Record<keyof Batch, Source> = {
    copies: copyExercises(names, separator, seedOf('copies')),
    readings: readingExercises({ seed: seedOf('readings'), facts }),
    comparisons: comparisonExercises(seedOf('comparisons')),
    bridge: demonstrationsOf('bridge'),
    comparison: demonstrationsOf('comparison'),
  };
  for (let step = 0; step < steps; step++) {
    for (const [source, count] of Object.entries(batch) as [keyof Batch, number][]) {
      for (let i = 0; i < count; i++) {
        const { value } = await sources[source].next();
        yield `${JSON.stringify(value)}\n`;
      }
    }
  }
}

export function referenceOf(family: Family): string {
  return `@toolenv/envs-qa/${family}-v1`;
}

export function batchSizeOf({ batch }: Phase): number {
  return Object.values(batch).reduce((sum, count) => sum + count, 0);
}
