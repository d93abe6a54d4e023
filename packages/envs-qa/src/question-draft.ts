/** Question drafts: a question with its answer and supporting facts, and its conversion to a record. */
import type { Rng } from '@toolenv/core';
import type { EntityDocument } from './entity.ts';
import type { QaRecord } from './qa-record.ts';
import type { WorldPart } from './world.ts';

export interface QuestionDraft {
  question: string;
  answer: string;
  /** In the order of the hops. */
  facts: { document: EntityDocument; fact: string }[];
}

/** Number of unrelated paragraphs in a record. */
const distractors = 4;

/** The draft as a record. Its context has the gold documents and others, most of which share a word with a gold title. */
export function toRecord(
  { question, answer, facts }: QuestionDraft,
  { _id, type }: Pick<QaRecord, '_id' | 'type'>,
  part: WorldPart,
  rng: Rng,
): QaRecord {
  const paragraphs = new Map<string, EntityDocument>();
  for (const { document } of facts) paragraphs.set(document.title, document);
  const gold = paragraphs.size;
  const alike = facts.flatMap(({ document }) =>
    document.title.split(' ').flatMap((word) => part.byWord.get(word) ?? []),
  );
  for (const { document } of rng.shuffle(alike).slice(0, 2 * distractors)) {
    if (paragraphs.size < gold + distractors) paragraphs.set(document.title, document);
  }
  while (paragraphs.size < gold + distractors) {
    const { document } = rng.pick(part.entities);
    paragraphs.set(document.title, document);
  }
  return {
    _id,
    question,
    answer,
    type,
    level: gold === 1 ? 'easy' : gold === 2 ? 'medium' : 'hard',
    supporting_facts: facts.map(({ document, fact }) => [document.title, document.factSentence[fact]!]),
    context: rng.shuffle([...paragraphs.values()]).map(({ title, sentences }) => [title, [...sentences]]),
  };
}
