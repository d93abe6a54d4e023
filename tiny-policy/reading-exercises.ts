/** Reading exercises: a document, then what follows from it for some questions. Much practice for few tokens. */
import { createRng, deriveSeed, type Rng, type TokenRow } from '@toolenv/core';
import { askChain, createWorld, type Entity, kinds, nameWithKind, textOf, walk } from '@toolenv/envs-qa';
import type { Chat } from '@toolenv/policy';
import { write } from './demonstrator.ts';
import type { Move } from './strategies.ts';

const questionsPerDocument = 4;

/** Rows whose mask covers the names that were read only, about each entity of one world after another. For ever. */
export function* readingExercises(chat: Chat, seed: number): Generator<TokenRow, never, void> {
  for (let number = 0; ; number++) {
    const world = createWorld(deriveSeed(seed, 'world', number));
    const rng = createRng(seed, 'reading', number);
    for (const entity of rng.shuffle(world.parts.train.entities)) yield readingExercise(chat, entity, rng);
  }
}

function readingExercise(chat: Chat, entity: Entity, rng: Rng): TokenRow {
  const tokens: number[] = [...chat.encode(`${entity.name}: ${textOf(entity.document)}`)];
  const mask: number[] = tokens.map(() => 0);
  for (const relation of rng.shuffle(Object.keys(entity.links)).slice(0, questionsPerDocument)) {
    const found = entity.links[relation]!.name;
    const written = chat.encode(write(moveTo(found, entity, relation, rng)));
    const name = chat.encode(found);
    const start = lastIndexOf(written, name);
    tokens.push(...written);
    for (const t of written.keys()) mask.push(Number(t >= start && t < start + name.length));
  }
  return { tokens: Int32Array.from(tokens), mask: Uint8Array.from(mask) };
}

/** What is thought and done in an episode once the document has been read: a question answered, or a phrase looked up. */
function moveTo(found: string, entity: Entity, relation: string, rng: Rng): Move {
  const chain = walk(entity, [relation]);
  if (chain && rng.float() < 0.5) return { think: askChain(chain, rng).question, answer: found };
  const phrase = rng.pick(kinds[entity.kind].relations[relation]!.phrases);
  const think = phrase.replace('{x}', nameWithKind(entity, rng));
  return rng.float() < 0.5 ? { think, search: found } : { think, answer: found };
}

function lastIndexOf(tokens: Int32Array, name: Int32Array): number {
  for (let start = tokens.length - name.length; start >= 0; start--) {
    if (name.every((token, i) => token === tokens[start + i])) return start;
  }
  throw new RangeError('The name is not written as its tokens.');
}
