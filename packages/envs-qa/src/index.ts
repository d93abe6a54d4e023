/** @toolenv/envs-qa: multi-hop question answering by search. */

export type { WikimultihopOptions } from './2wikimultihopqa-v1.ts';
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
export { askChain, type Chain, nameWithKind, walk } from './chain.ts';
export { bridgeQuestions, composeQuestions, lookupQuestions } from './chain-questions.ts';
export { claimQuestions } from './claim-questions.ts';
export { type ComparisonSort, comparisonQuestions, comparisonSorts } from './comparison-questions.ts';
export type { DatasetOptions } from './datasets/dataset-env.ts';
export { hotpotFormat, readRecords, writeRecords } from './datasets/hotpotqa-format.ts';
export { musiqueFormat } from './datasets/musique-format.ts';
export { type RecordFormat, streamRecords } from './datasets/read-records.ts';
export { wikimultihopFormat } from './datasets/wikimultihop-format.ts';
export { textOf } from './document.ts';
export type { Entity, EntityDocument, Kind, KindName, Relation } from './entity.ts';
export { kinds } from './kinds.ts';
export type { QaOptions } from './qa-env.ts';
export {
  goldTitles,
  joinSentences,
  type QaDocument,
  type QaRecord,
  type QaTask,
  type QuestionHop,
} from './qa-record.ts';
export type { QuestionDraft } from './question-draft.ts';
export { createQuestions, type QuestionFamily, questionCounts } from './question-set.ts';
export { wordsOf, worldVocabulary } from './vocabulary.ts';
export { createWorld, type World, type WorldPart } from './world.ts';
export type { WorldOptions } from './world-definition.ts';
