/** The environment `lookup-v1`: one-hop questions about a synthetic world. */
import { lookupQuestions } from './chain-questions.ts';
import { defineWorldEnv } from './world-definition.ts';

export default defineWorldEnv({
  name: 'lookup-v1',
  description: 'One-hop questions about a synthetic world.',
  questions: () => lookupQuestions,
  hidesAnswer: true,
});
