/** The environment `comparison-v1`. */
import type { EnvDefinition } from '@toolenv/core';
import { comparisonQuestions } from './comparison-questions.ts';
import type { QaRecord } from './qa-record.ts';
import { defineWorldEnv, type WorldOptions } from './world-definition.ts';

const comparison: EnvDefinition<QaRecord, WorldOptions> = defineWorldEnv({
  name: 'comparison-v1',
  description: 'Questions that compare two entities of a synthetic world; they need two or four documents.',
  questions: comparisonQuestions,
});

export default comparison;
