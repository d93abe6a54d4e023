/** Reading exercises: a document, then answers from it. They need few tokens. */
import { createRng, deriveSeed, type Rng } from '@toolenv/core';
import { askChain, createWorld, type Entity, kinds, nameWithKind, textOf, walk } from '@toolenv/envs-qa';
import { write } from './demonstrator.ts';
import { learnPart, type Segments } from './lines.ts';

const questionsPerDocument = 4;

export interface ReadingOptions {
  seed: number;
  /** Whether the exercises also write facts down: `X: 1984.`, `the author of X: Y.` */
  facts: boolean;
}

/** Endless lines about each entity of one world after another. Only the words read from the document are learned. */
export function* readingExercises({ seed, facts }: ReadingOptions): Generator<Segments, never, void> {
  for (let number = 0; ; number++) {
    const world = createWorld(deriveSeed(seed, 'world', number));
    const rng = createRng(seed, 'reading', number);
    for (const entity of rng.shuffle(world.parts.train.entities)) yield readingExercise(entity, facts, rng);
  }
}

function readingExercise(entity: Entity, facts: boolean, rng: Rng): Segments {
  const relations = rng.shuffle(Object.keys(entity.links)).slice(0, questionsPerDocument);
  const readings = relations.map((relation): [text: string, found: string] => {
    const found = entity.links[relation]!.name;
    return [use(found, entity, relation, facts, rng), found];
  });
  if (facts) readings.push([`${entity.name}: ${entity.year}.`, String(entity.year)]);
  const document = { text: `${entity.name}: ${textOf(entity.document)} `, label: false };
  const used = (facts ? rng.shuffle(readings) : readings).map(([text, found]) =>
    learnPart(`${text} `, found),
  );
  return { segments: [document, ...used.flat()] };
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
