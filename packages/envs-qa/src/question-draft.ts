/** A question with its answer and the facts that it needs, and the record made of it. */
import type { Rng } from '@toolenv/core';
import type { EntityDocument } from './entity.ts';
import type { QaRecord } from './hotpotqa-record.ts';
import type { WorldPart } from './world.ts';

export interface QuestionDraft {
  question: string;
  answer: string;
  /** In the order in which they are needed. */
  facts: { document: EntityDocument; fact: string }[];
}

/** Paragraphs of a record that do not help. */
const distractors = 4;

/** The draft as a record; its context has the gold documents and others, mostly with a word of their titles. */
export function toRecord(
  { question, answer, facts }: QuestionDraft,
  { _id, type, level }: Pick<QaRecord, '_id' | 'type' | 'level'>,
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
    level,
    supporting_facts: facts.map(({ document, fact }) => [document.title, document.factSentence[fact]!]),
    context: rng.shuffle([...paragraphs.values()]).map(({ title, sentences }) => [title, [...sentences]]),
  };
}

/** How hard a question is, by the documents it needs. */
export function levelOf(facts: QuestionDraft['facts']): 'easy' | 'medium' | 'hard' {
  const documents = new Set(facts.map(({ document }) => document.title)).size;
  return documents === 1 ? 'easy' : documents === 2 ? 'medium' : 'hard';
}
