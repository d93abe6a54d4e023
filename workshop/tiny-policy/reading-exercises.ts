/** Reading exercises: a document, then answers from it. They need few tokens. */
import { createRng, deriveSeed, type Rng } from '@toolenv/core';
import type { TokenRow } from '@toolenv/core/learner';
import { askChain, createWorld, type Entity, kinds, nameWithKind, textOf, walk } from '@toolenv/envs-qa';
import type { Chat } from '@toolenv/policy';
import { write } from './demonstrator.ts';

const questionsPerDocument = 4;

export interface ReadingOptions {
  seed: number;
  /** Whether the exercises also write facts down: `X: 1984.`, `the author of X: Y.` */
  facts: boolean;
}

/** Endless rows about each entity of one world after another. The mask covers only the words read from the document. */
export function* readingExercises(
  chat: Chat,
  { seed, facts }: ReadingOptions,
): Generator<TokenRow, never, void> {
  for (let number = 0; ; number++) {
    const world = createWorld(deriveSeed(seed, 'world', number));
    const rng = createRng(seed, 'reading', number);
    for (const entity of rng.shuffle(world.parts.train.entities))
      yield readingExercise(chat, entity, facts, rng);
  }
}

function readingExercise(chat: Chat, entity: Entity, facts: boolean, rng: Rng): TokenRow {
  const tokens: number[] = [...chat.encode(`${entity.name}: ${textOf(entity.document)}`)];
  const mask: number[] = tokens.map(() => 0);
  const relations = rng.shuffle(Object.keys(entity.links)).slice(0, questionsPerDocument);
  const readings = relations.map((relation): [text: string, found: string] => {
    const found = entity.links[relation]!.name;
    return [use(found, entity, relation, facts, rng), found];
  });
  if (facts) readings.push([`${entity.name}: ${entity.year}.`, String(entity.year)]);
  for (const [text, found] of facts ? rng.shuffle(readings) : readings) {
    const written = chat.encode(text);
    const name = chat.encode(found);
    const start = lastIndexOf(written, name);
    tokens.push(...written);
    for (const t of written.keys()) mask.push(Number(t >= start && t < start + name.length));
  }
  return { tokens: Int32Array.from(tokens), mask: Uint8Array.from(mask) };
}

/** What an episode may contain after a document: an answer to a question, the search for a phrase, or a fact. */
function use(found: string, entity: Entity, relation: string, facts: boolean, rng: Rng): string {
  const chain = walk(entity, [relation]);
  if (chain && rng.float() < 0.5) return write({ think: askChain(chain, rng).question, answer: found });
  const phrase = rng.pick(kinds[entity.kind].relations[relation]!.phrases);
  const think = phrase.replace('{x}', nameWithKind(entity, rng));
  const form = facts ? rng.pick(['keep', 'search', 'answer']) : rng.float() < 0.5 ? 'search' : 'answer';
  if (form === 'keep') return `${think}: ${found}.`;
  return write(form === 'search' ? { think, search: found } : { think, answer: found });
}

function lastIndexOf(tokens: Int32Array, name: Int32Array): number {
  for (let start = tokens.length - name.length; start >= 0; start--) {
    if (name.every((token, i) => token === tokens[start + i])) return start;
  }
  throw new RangeError('The tokens of the name do not occur in the text.');
}
