/** Comparison exercises: two facts and the answer that follows from them. They need few tokens. */
import { createRng, deriveSeed } from '@toolenv/core';
import type { TokenRow } from '@toolenv/core/learner';
import {
  comparisonQuestions,
  createQuestions,
  createWorld,
  type Entity,
  type QaRecord,
} from '@toolenv/envs-qa';
import type { Chat } from '@toolenv/policy';
import { planOf } from './plan.ts';

/** Number of questions in a row. */
const questionsPerRow = 4;

/** Endless rows about one world after another. The mask covers only the answers. */
export function* comparisonExercises(chat: Chat, seed: number): Generator<TokenRow, never, void> {
  for (let number = 0; ; number++) {
    const world = createWorld(deriveSeed(seed, 'world', number));
    const entities = new Map(world.parts.train.entities.map((entity) => [entity.name, entity]));
    const records = createRng(seed, 'comparison', number).shuffle(
      createQuestions(comparisonQuestions, world, 'train'),
    );
    for (let i = 0; i + questionsPerRow <= records.length; i += questionsPerRow) {
      yield exercise(chat, records.slice(i, i + questionsPerRow), entities);
    }
  }
}

function exercise(chat: Chat, records: readonly QaRecord[], entities: ReadonlyMap<string, Entity>): TokenRow {
  const tokens: number[] = [];
  const mask: number[] = [];
  for (const record of records) {
    const facts = chat.encode(`${planOf(record, entities).at(-1)!.think}<answer>`);
    const answer = chat.encode(`${record.answer}</answer>`);
    tokens.push(...facts, ...answer);
    mask.push(...[...facts].map(() => 0), ...[...answer].map(() => 1));
  }
  return { tokens: Int32Array.from(tokens), mask: Uint8Array.from(mask) };
}
