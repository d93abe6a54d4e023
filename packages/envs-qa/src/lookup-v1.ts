/** The environment `lookup-v1`. */
import type { EnvDefinition } from '@toolenv/core';
import { lookupQuestions } from './chain-questions.ts';
import type { QaRecord } from './qa-record.ts';
import { defineWorldEnv, type WorldOptions } from './world-definition.ts';

const lookup: EnvDefinition<QaRecord, WorldOptions> = defineWorldEnv({
  name: 'lookup-v1',
  description: 'One-hop questions about a synthetic world.',
  questions: lookupQuestions,
  hidesAnswer: true,
});

export default lookup;
