/** A synthetic world as a dataset: its questions with what published records add, namely triples, hops and aliases. */
import type { Split } from '@toolenv/core';
import {
  createQuestions,
  createWorld,
  type Entity,
  joinSentences,
  type QaRecord,
  type QuestionFamily,
  type World,
} from '@toolenv/envs-qa';

/** A supporting fact with its meaning. */
export interface Hop {
  /** Title of the paragraph that states it. */
  subject: string;
  relation: string;
  /** An entity, or the value of a property. */
  object: string;
}

/** A record of HotpotQA, and what the formats of the other datasets add. */
export interface WorldRecord {
  record: QaRecord;
  hops: Hop[];
  /** Other names of the answer. */
  aliases: string[];
}

/** An object of 2WikiMultihopQA's files. */
export type WikimultihopObject = Omit<QaRecord, 'level'> & {
  evidences: [string, string, string][];
  evidences_id: [string, string, string][];
  answer_id: string | null;
  entity_ids: string;
};

/** Questions of each family in equal parts. `count` is of each family. */
export function worldRecords(
  families: readonly QuestionFamily[],
  { seed, split, count }: { seed: number; split: Split; count: number },
): WorldRecord[] {
  const world = createWorld(seed);
  const entities = new Map(world.parts[split].entities.map((entity) => [entity.name, entity]));
  return families.flatMap((family) =>
    createQuestions(family, world, split, count).map((record) => ({
      record,
      hops: hopsOf(record, entities),
      aliases: entities.has(record.answer) ? aliasesOf(record.answer) : [],
    })),
  );
}

/** What each supporting sentence says of its subject: the fact that leads to the next subject or the answer, or else its first. */
function hopsOf({ supporting_facts, answer }: QaRecord, entities: ReadonlyMap<string, Entity>): Hop[] {
  return supporting_facts.map(([title, sentence], number) => {
    const { document, links, year, trait } = entities.get(title)!;
    const objects: Record<string, string> = { year: String(year), trait };
    for (const [relation, target] of Object.entries(links)) objects[relation] = target.name;
    const stated = Object.keys(objects).filter((fact) => document.factSentence[fact] === sentence);
    const next = supporting_facts[number + 1]?.[0] ?? answer;
    const relation = stated.find((fact) => objects[fact] === next) ?? stated[0]!;
    return { subject: title, relation, object: objects[relation]! };
  });
}

/** Nidra Shelridge is also N. Shelridge. */
function aliasesOf(name: string): string[] {
  const [first = '', ...rest] = name.split(' ');
  return rest.length === 0 ? [] : [`${first[0]}. ${rest.join(' ')}`];
}

/** The lines of id_aliases.json: Wikidata id, aliases and demonyms of each entity. */
export function aliasLines(world: World): { Q_id: string; aliases: string[]; demonyms: string[] }[] {
  return world.documents.map(({ title }) => ({
    Q_id: idOf(title),
    aliases: aliasesOf(title),
    demonyms: [],
  }));
}

export function toWikimultihop({ record, hops, aliases }: WorldRecord): WikimultihopObject {
  const { level: _, ...same } = record;
  const types: Record<string, string> = { bridge: 'compositional', compose: 'compositional' };
  return {
    ...same,
    type: types[record.type] ?? record.type,
    evidences: hops.map(({ subject, relation, object }) => [subject, relation, object]),
    evidences_id: hops.map(({ subject, relation, object }) => [idOf(subject), relation, idOf(object)]),
    answer_id: aliases.length > 0 ? idOf(record.answer) : null,
    entity_ids: hops.map(({ subject }) => idOf(subject)).join('_'),
  };
}

/** A line of MuSiQue-Ans. Decompositions are written as MuSiQue writes relations: `Nidra Shelridge >> river`, `#1 >> mountain`. */
export function toMusique({ record, hops, aliases }: WorldRecord): object {
  const titles = record.context.map(([title]) => title);
  const gold = new Set(hops.map(({ subject }) => subject));
  return {
    id: `${hops.length}hop__${record._id}`,
    paragraphs: record.context.map(([title, sentences], idx) => ({
      idx,
      title,
      paragraph_text: joinSentences(sentences),
      is_supporting: gold.has(title),
    })),
    question: record.question,
    question_decomposition: hops.map(({ subject, relation, object }, number) => ({
      id: number,
      question: `${hops[number - 1]?.object === subject ? `#${number}` : subject} >> ${relation}`,
      answer: object,
      paragraph_support_idx: titles.indexOf(subject),
    })),
    answer: record.answer,
    answer_aliases: aliases,
    answerable: true,
  };
}

/** The two lines of MuSiQue-Full for a question. The second lacks the paragraph of the last hop, so that it cannot be answered. */
export function toMusiqueFull(item: WorldRecord): object[] {
  const lost = item.hops.at(-1)!.subject;
  const context = item.record.context.filter(([title]) => title !== lost);
  const lacking = toMusique({ ...item, record: { ...item.record, context } }) as {
    question_decomposition: { paragraph_support_idx: number | null }[];
  };
  for (const hop of lacking.question_decomposition)
    if (hop.paragraph_support_idx === -1) hop.paragraph_support_idx = null;
  return [toMusique(item), { ...lacking, answerable: false }];
}

/** Stands for a Wikidata id: letters of the name. */
function idOf(name: string): string {
  return `Q-${name.replaceAll(' ', '-')}`;
}
