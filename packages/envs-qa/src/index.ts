/** @toolenv/envs-qa: multi-hop question answering by search. */
export {
  type AnswerScore,
  exactMatch,
  f1Score,
  type GoldAnswers,
  musiqueF1Score,
  normalizeAnswer,
  substringMatch,
} from './answer-score.ts';
export { readAnswer, type TaggedAnswer } from './answer-tag.ts';
export { bridgeQuestions } from './bridge-questions.ts';
export { askChain, type Chain, nameWithKind, walk } from './chain.ts';
export { comparisonQuestions } from './comparison-questions.ts';
export { composeQuestions } from './compose-questions.ts';
export { textOf } from './document.ts';
export type { Entity, EntityDocument, Kind, KindName, Relation } from './entity.ts';
export { goldTitles, joinSentences, type QaRecord, readRecords, writeRecords } from './hotpotqa-record.ts';
export type { HotpotQaOptions } from './hotpotqa-v1.ts';
export { kinds } from './kinds.ts';
export { lookupQuestions } from './lookup-questions.ts';
export type { QaDocument, QaOptions } from './qa-env.ts';
export type { QuestionDraft } from './question-draft.ts';
export { createQuestions, type DrawQuestion, type QuestionFamily, questionCounts } from './question-set.ts';
export { wordsOf, worldVocabulary } from './vocabulary.ts';
export { createWorld, type World, type WorldPart } from './world.ts';
export type { WorldOptions } from './world-definition.ts';
