/** @toolenv/envs-qa: multi-hop question answering by search. */

export type { WikimultihopOptions } from './2wikimultihopqa-v1.ts';
export {
  type AnswerScore,
  exactMatch,
  f1Score,
  musiqueF1Score,
  normalizeAnswer,
  substringMatch,
} from './answer-score.ts';
export { readAnswer } from './answer-tag.ts';
export { askChain, nameWithKind, walk } from './chain.ts';
export { bridgeQuestions, composeQuestions, lookupQuestions } from './chain-questions.ts';
export { claimQuestions } from './claim-questions.ts';
export { comparisonQuestions } from './comparison-questions.ts';
export type { DatasetOptions } from './datasets/dataset-env.ts';
export { readRecords, writeRecords } from './datasets/hotpotqa-format.ts';
export { textOf } from './document.ts';
export type { Entity, Kind, Relation } from './entity.ts';
export { kinds } from './kinds.ts';
export type { QaOptions } from './qa-env.ts';
export {
  goldTitles,
  joinSentences,
  type QaDocument,
  type QaRecord,
  type QaTask,
} from './qa-record.ts';
export { createQuestions, type QuestionFamily } from './question-set.ts';
export { wordsOf, worldVocabulary } from './vocabulary.ts';
export { createWorld, type World } from './world.ts';
export type { WorldOptions } from './world-definition.ts';
