/** The environment `comparison-v1`. */
import { comparisonQuestions } from './comparison-questions.ts';
import { defineWorldEnv } from './world-definition.ts';

export default defineWorldEnv({
  name: 'comparison-v1',
  description: 'Questions that compare two entities of a synthetic world; they need two or four documents.',
  questions: comparisonQuestions,
});
