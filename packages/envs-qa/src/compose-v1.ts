/** The environment `compose-v1`. */
import type { EnvDefinition } from '@toolenv/core';
import { composeQuestions } from './chain-questions.ts';
import type { QaRecord } from './qa-record.ts';
import { defineWorldEnv, type WorldOptions } from './world-definition.ts';

const compose: EnvDefinition<QaRecord, WorldOptions> = defineWorldEnv({
  name: 'compose-v1',
  description: 'Three- and four-hop questions about a synthetic world.',
  questions: composeQuestions,
  hidesAnswer: true,
  // Four searches, the answer and one spare turn.
  maxTurns: 6,
});

export default compose;
