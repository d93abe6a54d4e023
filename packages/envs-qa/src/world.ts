/** createWorld: linked entities, each with a short document, in parts without links between them. */
import { createRng, type Rng, type Split } from '@toolenv/core';
import { writeDocument } from './document.ts';
import type { Entity, EntityDocument, KindName } from './entity.ts';
import { kindNames, kinds } from './kinds.ts';
import { createNames } from './names.ts';

/** Entities of a part, also by kind and by the words of their names. */
export interface WorldPart {
  readonly entities: readonly Entity[];
  readonly ofKind: Readonly<Record<KindName, readonly Entity[]>>;
  readonly byWord: ReadonlyMap<string, readonly Entity[]>;
}

export interface World {
  readonly seed: number;
  /** Entities of a part link to and mention only entities of the same part. */
  readonly parts: Readonly<Record<Split, WorldPart>>;
  /** Documents of all parts. */
  readonly documents: readonly EntityDocument[];
}

/** The years of a world. There are few, because each is a word in a word-level tokenizer. */
export const years: readonly number[] = Array.from({ length: 50 }, (_, i) => 1950 + i);

/** Number of entities of each part. */
const sizes: Readonly<Record<Split, number>> = { train: 2000, validation: 400, test: 800 };

/** Builds the world of a seed. Equal seeds give equal worlds. */
export function createWorld(seed: number): World {
  const newName = createNames(createRng(seed, 'world', 'names'));
  const build = (split: Split) => createPart(sizes[split], newName, createRng(seed, 'world', split));
  const parts = { train: build('train'), validation: build('validation'), test: build('test') };
  const documents = [parts.train, parts.validation, parts.test].flatMap(({ entities }) =>
    entities.map(({ document }) => document),
  );
  return { seed, parts, documents };
}

function createPart(size: number, newName: () => string, rng: Rng): WorldPart {
  const ofKind = {} as Record<KindName, Entity[]>;
  for (const kind of kindNames) {
    // An even number, so that all persons can be married.
    const count = 2 * Math.round((size * kinds[kind].share) / 2);
    ofKind[kind] = Array.from({ length: count }, () => newEntity(kind, newName(), rng));
  }
  const entities = Object.values(ofKind).flat();
  const byWord = groupByWord(entities);
  marry(ofKind.person, rng);
  for (const entity of entities) {
    link(entity, ofKind, rng);
    entity.rival = findRival(entity, entities, byWord, rng);
  }
  for (const entity of entities) entity.document = writeDocument(entity, rng);
  return { entities, ofKind, byWord };
}

function newEntity(kind: KindName, name: string, rng: Rng): Entity {
  const [year, trait] = [rng.pick(years), rng.pick(kinds[kind].traits)];
  const gender = rng.float() < 0.5 ? 'he' : 'she';
  // Set after all entities of the part exist, because they name each other.
  const unset = undefined as unknown;
  return {
    kind,
    name,
    year,
    trait,
    gender,
    links: {},
    rival: unset as Entity,
    document: unset as EntityDocument,
  };
}

function marry(persons: readonly Entity[], rng: Rng): void {
  const shuffled = rng.shuffle(persons);
  for (let i = 0; i < shuffled.length; i += 2) {
    const [one, other] = [shuffled[i]!, shuffled[i + 1]!];
    one.links.spouse = other;
    other.links.spouse = one;
  }
}

/** Draws the missing targets, all different, so that the facts of a document cannot be confused. */
function link(entity: Entity, ofKind: Record<KindName, readonly Entity[]>, rng: Rng): void {
  for (const [name, { target }] of Object.entries(kinds[entity.kind].relations)) {
    if (entity.links[name]) continue;
    let drawn: Entity;
    do drawn = rng.pick(ofKind[target]);
    while (drawn === entity || Object.values(entity.links).includes(drawn));
    entity.links[name] = drawn;
  }
}

function groupByWord(entities: readonly Entity[]): Map<string, Entity[]> {
  const byWord = new Map<string, Entity[]>();
  for (const entity of entities) {
    for (const word of entity.name.split(' ')) byWord.set(word, [...(byWord.get(word) ?? []), entity]);
  }
  return byWord;
}

/** An entity that is not a target, with a word in common with the name if there is one. */
function findRival(
  entity: Entity,
  entities: readonly Entity[],
  byWord: ReadonlyMap<string, readonly Entity[]>,
  rng: Rng,
): Entity {
  const isUnrelated = (other: Entity) => other !== entity && !Object.values(entity.links).includes(other);
  const alike = entity.name.split(' ').flatMap((word) => byWord.get(word)!.filter(isUnrelated));
  if (alike.length > 0) return rng.pick(alike);
  let drawn: Entity;
  do drawn = rng.pick(entities);
  while (!isUnrelated(drawn));
  return drawn;
}
