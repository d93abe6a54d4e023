/** Comparison exercises: two facts and the answer that follows from them. They need few tokens. */
import { createRng, deriveSeed } from '@toolenv/core';
import {
  comparisonQuestions,
  createQuestions,
  createWorld,
  type Entity,
  type QaRecord,
} from '@toolenv/envs-qa';
import type { Segments } from './lines.ts';
import { planOf } from './plan.ts';

/** Number of questions in a line. */
const questionsPerLine = 4;

/** Endless lines about one world after another. Only the answers are learned. */
export function* comparisonExercises(seed: number): Generator<Segments, never, void> {
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
