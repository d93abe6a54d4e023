/** The data file of a phase: its exercises and demonstrations, batch after batch. */
import { createWriteStream } from 'node:fs';
import { rename } from 'node:fs/promises';
import { pipeline } from 'node:stream/promises';
import { createRng, deriveSeed, type Rng } from '@toolenv/core';
import {
  comparisonQuestions,
  createQuestions,
  createWorld,
  type Entity,
  type QaRecord,
  worldVocabulary,
} from '@toolenv/envs-qa';
import { demonstrations } from './demonstrations.ts';
import type { Family } from './families.ts';
import { drawSymbol } from './library/draw-symbol.ts';
import { type LibraryName, library } from './library/library.ts';
import { libraryEpisodes } from './library/library-episodes.ts';
import { toolExercises } from './library/tool-exercises.ts';
import type { Line, Segments } from './lines.ts';
import { planOf } from './plan.ts';
import { readingExercises } from './reading-exercises.ts';
import type { Phase, Source } from './recipes.ts';

/** Endless lines. Only the repetition is learned, because the first half is random. */
function* copyExercises(
  draw: (rng: Rng) => string,
  separator: string,
  seed: number,
): Generator<Segments, never, void> {
  const rng = createRng(seed, 'copy');
  for (;;) {
    const list = Array.from({ length: 6 + rng.int(12) }, () => draw(rng)).join(' ');
    yield {
      segments: [
        { text: list + separator, label: false },
        { text: list, label: true },
      ],
    };
  }
}

/** Number of questions in a line. */
const questionsPerLine = 4;

/** Endless lines about one world after another. Only the answers are learned. */
function* comparisonExercises(seed: number): Generator<Segments, never, void> {
  for (let number = 0; ; number++) {
    const world = createWorld(deriveSeed(seed, 'world', number));
    const entities = new Map(world.parts.train.entities.map((entity) => [entity.name, entity]));
    const records = createRng(seed, 'comparison', number).shuffle(
      createQuestions(comparisonQuestions, world, 'train'),
    );
    for (let i = 0; i + questionsPerLine <= records.length; i += questionsPerLine) {
      yield exercise(records.slice(i, i + questionsPerLine), entities);
    }
  }
}

function exercise(records: readonly QaRecord[], entities: ReadonlyMap<string, Entity>): Segments {
  const segments = records.flatMap((record) => [
    { text: `${planOf(record, entities).at(-1)!.think}<answer>`, label: false },
    { text: `${record.answer}</answer>`, label: true },
  ]);
  return { segments };
}

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
