/** The environment `comparison-v1`: questions that compare two entities of a synthetic world. */
import { type ComparisonSort, comparisonQuestionsOf, comparisonSorts } from './comparison-questions.ts';
import { defineWorldEnv } from './world-definition.ts';

export default defineWorldEnv<{ sorts: ComparisonSort[] }>({
  name: 'comparison-v1',
  description: 'Questions that compare two entities of a synthetic world; they need two or four documents.',
  options: {
    sorts: {
      type: 'array',
      items: { enum: comparisonSorts },
      minItems: 1,
      uniqueItems: true,
      default: comparisonSorts,
      description:
        'sorts of questions to ask in turn: which is earlier or later, or yes or no, about the entities or about their targets',
    },
  },
  questions: ({ sorts }) => comparisonQuestionsOf(sorts),
});
