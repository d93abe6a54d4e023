/** The environment `compose-v1`. */
import { composeQuestions } from './chain-questions.ts';
import { defineWorldEnv } from './world-definition.ts';

export default defineWorldEnv({
  name: 'compose-v1',
  description: 'Three- and four-hop questions about a synthetic world.',
  questions: composeQuestions,
  hidesAnswer: true,
  // Four searches, the answer and one spare turn.
  maxTurns: 6,
});
