/** The environment `compose-v1`: three- and four-hop questions about a synthetic world. */
import { chainQuestions, composeHops } from './chain-questions.ts';
import { defineWorldEnv } from './world-definition.ts';

export default defineWorldEnv<{ hops: number[] }>({
  name: 'compose-v1',
  description: 'Three- and four-hop questions about a synthetic world.',
  options: {
    hops: {
      type: 'array',
      items: { enum: composeHops },
      minItems: 1,
      uniqueItems: true,
      default: composeHops,
      description: 'numbers of hops to ask for in turn',
    },
  },
  questions: ({ hops }) => chainQuestions('compose', hops),
  hidesAnswer: true,
  // Four searches, the answer and one spare turn.
  maxTurns: 6,
});
