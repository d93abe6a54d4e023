/** The environment `bridge-v1`. */
import type { EnvDefinition } from '@toolenv/core';
import { bridgeQuestions } from './chain-questions.ts';
import type { QaRecord } from './qa-record.ts';
import { defineWorldEnv, type WorldOptions } from './world-definition.ts';

const bridge: EnvDefinition<QaRecord, WorldOptions> = defineWorldEnv({
  name: 'bridge-v1',
  description: 'Two-hop questions about a synthetic world, through an entity that is not named.',
  questions: bridgeQuestions,
  hidesAnswer: true,
});

export default bridge;
