/** The environment `bridge-v1`: two-hop questions about a synthetic world, through an entity that is not named. */
import { bridgeQuestions } from './chain-questions.ts';
import { defineWorldEnv } from './world-definition.ts';

export default defineWorldEnv({
  name: 'bridge-v1',
  description: 'Two-hop questions about a synthetic world, through an entity that is not named.',
  questions: () => bridgeQuestions,
  hidesAnswer: true,
});
