/** The environment `claims-v1`: claims about a synthetic world, right or wrong. */
import { claimHops, claimQuestions } from './claim-questions.ts';
import { defineWorldEnv } from './world-definition.ts';

export default defineWorldEnv<{ hops: number[] }>({
  name: 'claims-v1',
  description:
    'Claims about a synthetic world, right or wrong; checking a claim takes one to three documents.',
  options: {
    hops: {
      type: 'array',
      items: { enum: claimHops },
      minItems: 1,
      uniqueItems: true,
      default: claimHops,
      description: 'numbers of hops to ask for in turn',
    },
  },
  questions: ({ hops }) => claimQuestions(hops),
});
