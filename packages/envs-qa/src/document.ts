/** Writes the document of an entity from the templates of its kind. */
import type { Rng } from '@toolenv/core';
import type { Entity, EntityDocument } from './entity.ts';
import { kinds } from './kinds.ts';
import { fill, slotsOf } from './template.ts';

/** Draws one sentence of each group of the kind. Together the sentences state every relation of the entity. */
export function writeDocument(entity: Entity, rng: Rng): EntityDocument {
  const drawn = kinds[entity.kind].sentences.map((group) => rng.pick(group));
  const templates = drawn.filter((template) => template !== '');
  const masculine = entity.gender === 'he';
  const values: Record<string, string> = {
    self: entity.name,
    year: String(entity.year),
    trait: entity.trait,
    rival: entity.rival.name,
    he: masculine ? 'he' : 'she',
    He: masculine ? 'He' : 'She',
    his: masculine ? 'his' : 'her',
    His: masculine ? 'His' : 'Her',
  };
  for (const [relation, target] of Object.entries(entity.links)) values[relation] = target.name;
  const factSentence: Record<string, number> = {};
  for (const [number, template] of templates.entries()) {
    for (const slot of slotsOf(template)) factSentence[slot] ??= number;
  }
  return { title: entity.name, sentences: templates.map((template) => fill(template, values)), factSentence };
}

/** The document as one line. */
export function textOf(document: EntityDocument): string {
  return document.sentences.join(' ');
}
